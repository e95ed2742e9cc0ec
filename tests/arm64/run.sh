#!/usr/bin/env bash
# Builds mlbcc for arm64 and runs its unit tests by qemu-user; with --vm the tests of tests/vm/processor,
# too, in a virtual machine of that processor (an hour). On Debian 12 as root; the last line is the count.
#
#   tests/arm64/run.sh [--vm] [--result FILE]
#
# The build is build/arm64, its libraries are build/arm64-root ($MLBCC_ARM64_ROOT).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export MLBCC_ARM64_ROOT=${MLBCC_ARM64_ROOT:-$root/build/arm64-root}
"$root/scripts/setup.sh" --arm64
"$here/sysroot.sh" "$MLBCC_ARM64_ROOT" >/dev/null
exec python3 "$here/run.py" "$@"
