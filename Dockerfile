# The image of mlbcc: Debian, no kernel headers. docs/docker.md explains each flag.
#
#   docker build -t mlbcc .
#
# The example job on the simulated driver, and a process of the machine:
#   docker run --rm --cap-add BPF --cap-add PERFMON -v "$PWD:/work" -e LD_LIBRARY_PATH=/opt/cuda_sim \
#       mlbcc --rules cuda -- python3 /opt/inference/app.py
#   docker run --rm --cap-add BPF --cap-add PERFMON --cap-add SYS_PTRACE --pid=host -v "$PWD:/work" \
#       mlbcc --rules cuda --pid 4711
FROM debian:bookworm-slim AS build
COPY scripts/setup.sh /src/scripts/
RUN /src/scripts/setup.sh && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY CMakeLists.txt CMakePresets.json /src/
COPY tool /src/tool
COPY probe_templates /src/probe_templates
COPY rules /src/rules
COPY docs /src/docs
COPY scripts/make_man.py /src/scripts/
COPY examples /src/examples
WORKDIR /src
# Without debug information, which the image would not keep.
RUN cmake --preset release -DMLBCC_TESTS=OFF -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" \
    && cmake --build --preset release && cmake --install build/release --prefix /usr/local --strip

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends libbpfcc libbpf1 libclang1-14 \
       libdw1 libelf1 libfmt9 libzstd1 liblzma5 zlib1g libncursesw6 ncurses-base libprotobuf-lite32 libprometheus-cpp-pull1.0 libcivetweb1 libcurl4 ca-certificates xz-utils python3-minimal libpython3-stdlib \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
COPY --from=build /usr/local /usr/local
COPY --from=build /src/build/release/examples/cuda_sim/libcuda.so.1 /opt/cuda_sim/libcuda.so.1
COPY --from=build /src/examples/inference /opt/inference
WORKDIR /work
ENTRYPOINT ["mlbcc"]
CMD ["--help"]
