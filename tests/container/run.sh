#!/usr/bin/env bash
# Builds the image from the Dockerfile and traces in it, from it, and into it. As root, on Debian 12:
#
#   tests/container/run.sh [-k PATTERN] [--result FILE]
#
# With docker where there is an engine. Else with buildah, podman and runc, which take the same flags, on
# a base image made from this machine's own package sources. What is built is kept in $MLBCC_CONTAINERS
# (/var/tmp/mlbcc-containers), so that the next run builds only what has changed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${MLBCC_CONTAINERS:-/var/tmp/mlbcc-containers}
base=docker.io/library/debian:bookworm-slim
mkdir -p "$folder"

make_base() {
    echo "container: making the base image"
    mmdebstrap --quiet --variant=minbase --include=usr-is-merged \
        --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$folder/base.tar"
    podman import --quiet "$folder/base.tar" "$base" >/dev/null
    rm "$folder/base.tar"
}

if docker info >/dev/null 2>&1; then
    engine=docker
    docker build --quiet -t mlbcc-test "$root" >/dev/null
else
    engine=podman
    "$root/scripts/setup.sh" --container
    printf '[storage]\ndriver = "overlay"\ngraphroot = "%s"\nrunroot = "%s"\n' \
        "$folder/graph" "$folder/run" >"$folder/storage.conf"
    export CONTAINERS_STORAGE_CONF=$folder/storage.conf
    podman image exists "$base" || make_base
    if ! buildah build --isolation chroot --pull=never --network host --layers -t mlbcc-test \
        -f "$root/Dockerfile" "$root" >"$folder/build.log" 2>&1; then
        tail -n 40 "$folder/build.log" >&2
        echo "container: the image cannot be built; the whole log is $folder/build.log" >&2
        exit 1
    fi
fi
size=$("$engine" image inspect -f '{{.Size}}' mlbcc-test)
echo "container: the image has $((size / 1000000)) MB ($engine)"
MLBCC_ENGINE=$engine MLBCC_CONTAINERS=$folder exec python3 "$here/run.py" "$@"
