#!/usr/bin/env bash
# Unpacks NVIDIA's own driver library, libcuda.so.1, from Debian's component non-free into DEST, for
# tests on this machine only. Nothing is installed, and the machine's apt configuration is not touched.
# Prints the library's path.
#
#   scripts/fetch-nvidia.sh DEST
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
dest=$(realpath -m "$1")

found() { find "$dest" -name 'libcuda.so.1' 2>/dev/null | head -n 1; }
if [ -n "$(found)" ]; then found; exit 0; fi

# The archive this machine already uses, with the component non-free added.
. /etc/os-release
archive() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME)' |
        awk -v suite="$VERSION_CODENAME" '$2 == suite { print $1; exit }'
}
archive=$(archive)
[ -n "$archive" ] || { apt-get update -qq; archive=$(archive); }
[ -n "$archive" ] || { echo "fetch-nvidia: apt knows no archive of $VERSION_CODENAME" >&2; exit 1; }

work=$dest.apt
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/packages"
: >"$work/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $VERSION_CODENAME non-free" \
    >"$work/sources.list"
apt=(apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
     -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status"
     -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root)
"${apt[@]}" update
(cd "$work/packages" && "${apt[@]}" download libcuda1)

mkdir -p "$dest"
dpkg -x "$work"/packages/libcuda1_*.deb "$dest"
# Outside an installation the library goes by its version only.
library=$(find "$dest" -name 'libcuda.so.[0-9]*.*' -type f | head -n 1)
[ -n "$library" ] || { echo "fetch-nvidia: the package holds no libcuda.so" >&2; exit 1; }
ln -sf "$(basename "$library")" "$(dirname "$library")/libcuda.so.1"
found
