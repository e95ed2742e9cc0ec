#!/usr/bin/env bash
# Makes DEST a small Debian trixie root that holds bpftrace, to compare with: the version with
# uprobe_multi. Does nothing where it is there already.
#
#   tests/bench/trixie-bpftrace.sh DEST
set -euo pipefail
dest=$1
[ -x "$dest/usr/bin/bpftrace" ] && exit 0
rm -rf "$dest"
mmdebstrap --quiet --variant=apt --include=bpftrace trixie "$dest"
