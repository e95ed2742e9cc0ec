# docker build -t mlbcc .
# docker run --rm --privileged -v "$PWD:/work" -w /work mlbcc --rules my.rules -- ./program
#
# The example job on the simulated driver:
# docker run --rm --privileged -e LD_LIBRARY_PATH=/opt/cuda_sim mlbcc --rules cuda -o - -- python3 /opt/inference/app.py
FROM debian:bookworm-slim AS build
COPY scripts/setup.sh /src/scripts/
RUN /src/scripts/setup.sh && rm -rf /var/lib/apt/lists/*
COPY . /src
WORKDIR /src
RUN cmake --preset release -DMLBCC_TESTS=OFF && cmake --build --preset release \
    && cmake --install build/release --prefix /usr/local --strip

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && apt-get install -qq -y --no-install-recommends libbpfcc libbpf1 libclang1-14 libclang-common-14-dev \
       libdw1 libelf1 libfmt9 python3-minimal \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /usr/local /usr/local
COPY --from=build /src/build/release/examples/cuda_sim/libcuda.so.1 /opt/cuda_sim/libcuda.so.1
COPY --from=build /src/examples/inference /opt/inference
ENTRYPOINT ["mlbcc"]
CMD ["--help"]
