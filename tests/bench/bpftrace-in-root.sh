#!/usr/bin/env bash
# Runs bpftrace of another root in this one's place: bpftrace-in-root.sh ROOT SHARED-FOLDER ARGUMENT...
# SHARED-FOLDER is seen under its own name inside.
set -euo pipefail
root=$1 shared=$2
shift 2
exec unshare -m bash -c '
    root=$1 shared=$2; shift 2
    mkdir -p "$root$shared"
    mount --bind "$shared" "$root$shared"
    mount --rbind /proc "$root/proc"; mount --rbind /sys "$root/sys"; mount --rbind /dev "$root/dev"
    exec chroot "$root" bpftrace "$@"' bash "$root" "$shared" "$@"
