#!/usr/bin/env bash
# Makes DEST a Debian 12 root for arm64: what mlbcc is built against, and what a virtual machine runs.
# Its packages are only unpacked. Does nothing where it is there already; remove it to make it anew.
#
#   tests/arm64/sysroot.sh DEST
set -euo pipefail
dest=$1
[ -e "$dest/complete" ] && exit 0
build=(libc6-dev libstdc++-12-dev libgcc-12-dev linux-libc-dev
       libbpfcc-dev libbpf-dev libclang-14-dev llvm-14-dev libelf-dev libdw-dev libiberty-dev libcurl4-openssl-dev
       libncurses-dev libzstd-dev liblzma-dev zlib1g-dev libprotobuf-dev libcli11-dev libxxhash-dev rapidjson-dev prometheus-cpp-dev libcivetweb-dev libfmt-dev libgtest-dev libgmock-dev)
machine=(base-passwd bash binutils bpftool busybox-static coreutils dash findutils g++ grep kmod
         libc-bin mawk mount procps python3 sed strace tar time util-linux xz-utils)
packages=$(IFS=, && echo "${build[*]},${machine[*]}")

echo "arm64: making the root $dest" >&2
rm -rf "$dest"
mkdir -p "$(dirname "$dest")"
mmdebstrap --quiet --variant=extract --arch=arm64 --skip=check/qemu \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include="$packages" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$dest"

# Links that begin with / would lead a linker to this machine's libraries.
find "$dest/usr" "$dest/etc" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfnr "$dest$(readlink "$link")" "$link"
done
# What the packages' own scripts would have done.
cp "$dest/usr/share/base-passwd/passwd.master" "$dest/etc/passwd"
cp "$dest/usr/share/base-passwd/group.master" "$dest/etc/group"
ln -s gcc "$dest/usr/bin/cc"
"$(dirname "$0")/emulate.sh" "$dest" /sbin/ldconfig
touch "$dest/complete"
