#!/usr/bin/env bash
# Runs an arm64 program by qemu-user in the root ROOT, and whatever arm64 programs it starts. This
# folder's tree, the build, /tmp, /dev, /proc and /sys are the machine's own. The emulator is made known to a
# user namespace of this run only (Linux 6.7); where the whole machine knows it, that will do.
#
#   tests/arm64/emulate.sh ROOT PROGRAM [ARG]...
set -euo pipefail
if [ -z "${MLBCC_EMULATE-}" ]; then
    export MLBCC_EMULATE=1
    [ "$(id -u)" -eq 0 ] || exec unshare --user --map-root-user --mount "$0" "$@"
    # With all users, as tests give files away: only from outside can they be had.
    gate=$(mktemp -d) && mkfifo "$gate/open"
    unshare --user --mount bash -c 'read -r <"$0"; rm -r "${0%/*}"; exec "$@"' "$gate/open" "$0" "$@" <&0 &
    until [ "$(readlink "/proc/$!/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do sleep 0.01; done
    echo "0 0 4294967295" | tee "/proc/$!/uid_map" >"/proc/$!/gid_map"
    echo >"$gate/open"
    trap 'kill "$!"' TERM INT
    wait "$!"
    exit
fi
unset MLBCC_EMULATE
tree=$(cd "$(dirname "$0")/../.." && pwd)
root=$1
shift

# The header of an arm64 program, and which of its bits count (Documentation/admin-guide/binfmt-misc.rst).
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
if mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null; then
    # F: opened now, so that the root need not hold it. P, C and O: as Debian's own entry has them.
    printf ':qemu-aarch64:M::%s:%s:%s:FPOC' "$magic" "$mask" "$(command -v qemu-aarch64-static)" \
        >/proc/sys/fs/binfmt_misc/register
elif [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
    echo "emulate: before Linux 6.7 the machine has to know the emulator (apt-get install binfmt-support)" >&2
    exit 126
fi

for folder in /proc /sys /dev /tmp "$tree"; do
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
done
exec chroot "$root" /usr/bin/env -C "$PWD" "$@"
