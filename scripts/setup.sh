#!/usr/bin/env bash
# Installs, on Debian 12 as root, what building and running mlbcc needs. Does nothing, quickly, where
# everything is there already.
#
#   scripts/setup.sh            to build and run
#   scripts/setup.sh --tests    and to run the tests
#   scripts/setup.sh --bench    and to run the benchmarks
#   scripts/setup.sh --container   to build and run, and for tests/container/run.sh without docker
#   scripts/setup.sh --arm64    to build and run, and for tests/arm64/run.sh
set -euo pipefail

build=(g++ cmake ninja-build pkg-config python3
       libbpfcc-dev libbpf-dev libclang-14-dev llvm-14-dev libelf-dev libdw-dev libiberty-dev libcurl4-openssl-dev
       libncurses-dev libzstd-dev liblzma-dev zlib1g-dev libprotobuf-dev protobuf-compiler libcli11-dev libxxhash-dev rapidjson-dev prometheus-cpp-dev libcivetweb-dev libfmt-dev libgtest-dev libgmock-dev)
tests=(ccache mold clang libclang-rt-14-dev clang-format clang-tidy git jq sqlite3 strace time
       bpftool bpftrace gdb mount procps util-linux python3-clang-14 python3-numba
       python3-jsonschema
       chromium  # tests/page
       tmux dropbear-bin openssh-client  # the live view, also over ssh; dropbear-bin starts no service
       # a virtual machine, its kernel, and a module for it
       qemu-system-x86 busybox-static cpio kmod xz-utils zstd
       dpkg debian-archive-keyring gcc-12 make libelf1 pahole binutils
       patchelf  # tests/gpu/bundle.sh
       python3-flask gunicorn python3-fastapi python3-uvicorn apache2-utils  # real servers, and load for them
       prometheus  # and promtool
       openssl
       golang-go caddy rustc python3-greenlet python3-gevent libboost-context-dev  # programs that move, unwind and switch their stacks
       libjemalloc2 libgoogle-perftools4 libtcmalloc-minimal4  # other allocators than the C library's
       python3-yaml  # for deploy/
       bpfcc-tools python3-bpfcc  # other users of a header tree
       # real libraries to trace; without a GPU their calls fail, but they are called
       python3-torch python3-sklearn python3-joblib libamdhip64-5)
container=(buildah podman runc mmdebstrap util-linux)
arm64=(ccache clang lld mmdebstrap util-linux qemu-user-static
       qemu-system-arm cpio kmod xz-utils zstd dpkg debian-archive-keyring make pahole)
bench=(aha bpftool hey linux-perf mmdebstrap "linux-headers-$(dpkg --print-architecture 2>/dev/null)")

command -v npm >/dev/null || tests+=(nodejs npm)  # for the page of convert --to html
wanted=("${build[@]}")
case ${1-} in
"") ;;
--tests) wanted+=("${tests[@]}") ;;
--container) wanted+=("${container[@]}") ;;
--arm64) wanted+=("${arm64[@]}") ;;
--bench) wanted+=("${tests[@]}" "${bench[@]}") ;;
*)
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "setup: this script installs Debian packages; here, install by hand: ${wanted[*]}" >&2
    exit 1
fi

missing() {
    comm -23 <(printf '%s\n' "${wanted[@]}" | sort) \
        <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' 2>/dev/null |
            sed -n 's/^installed //p' | sort -u)
}

mapfile -t absent < <(missing)
[ ${#absent[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "setup: run as root; to be installed: ${absent[*]}" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
echo "setup: installing ${absent[*]}"
apt-get update -qq
apt-get install -qq -y --no-install-recommends "${absent[@]}" </dev/null
