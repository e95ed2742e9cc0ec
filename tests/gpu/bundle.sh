#!/usr/bin/env bash
# Packs mlbcc with all libraries it needs, for a machine with nothing to install from:
#
#   tests/gpu/bundle.sh [BUILD] [FILE]        build/release, build/mlbcc-bundle.tar.xz
#
# The programs take the loader of the bundle, at a path that must be the same everywhere; run.sh makes
# it. So the C library of the machine may be older than the one that they were built with.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$root/build/release}")
file=${2:-$root/build/mlbcc-bundle.tar.xz}
place=/tmp/mlbcc-bundle

command -v patchelf >/dev/null || { echo "bundle.sh: patchelf is missing (scripts/setup.sh --tests)" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/mlbcc-bundle
mkdir -p "$bundle/lib" "$bundle/gpu"
DESTDIR=$work/installed cmake --install "$build" --prefix /mlbcc >/dev/null
cp -a "$work/installed/mlbcc/." "$bundle/"

programs=$(find "$bundle/bin" "$bundle/libexec" -type f -perm -u+x)
for program in $programs; do
    ldd "$program" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }'
done | sort -u | while read -r library; do
    cp -L "$library" "$bundle/lib/"
done
cp -L "$(ldd "$build/mlbcc" | awk '/ld-linux/ { print $1 }')" "$bundle/lib/ld.so"
for program in $programs; do
    strip "$program"  # before it is patched: the other way round it would not load
    patchelf --set-interpreter "$place/lib/ld.so" --force-rpath --set-rpath "$place/lib" "$program"
done
cp "$root"/tests/gpu/{run.sh,job.py,compare.py,decode.py,cost.py} "$bundle/gpu/"
tar -C "$work" -cf - mlbcc-bundle | xz -T0 -9 >"$file"

size=$(stat -c %s "$file")
echo "$file: $((size / 1000000)) MB"
[ "$size" -lt 60000000 ] || { echo "bundle.sh: the bundle is larger than 60 MB" >&2; exit 1; }
