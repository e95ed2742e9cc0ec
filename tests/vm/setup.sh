#!/usr/bin/env bash
# Installs, on Debian 12 as root, what the tests in a virtual machine need beside scripts/setup.sh --tests.
# Does nothing, quickly, where everything is there already.
set -euo pipefail

wanted=(qemu-system-x86 busybox-static cpio kmod xz-utils zstd     # the machine
        dpkg debian-archive-keyring                                # fetching its kernel
        gcc-12 make libelf1 pahole binutils)                       # building a module for it

missing() {
    comm -23 <(printf '%s\n' "${wanted[@]}" | sort) \
        <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u)
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
