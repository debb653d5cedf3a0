#!/bin/sh
# Installs the simulators that bench/peers compares with, from Debian's or Ubuntu's packages:
# ns-2, the ns-3 library with its headers, and the compiler for the ns-3 programs.
# Needs root, or sudo. Not needed to build, test or use forebay.
set -eu

packages="ns2 libns3-dev g++ pkg-config"

if ! command -v apt-get >/dev/null 2>&1; then
    echo "install.sh: no apt-get here; install by hand what provides: $packages" >&2
    exit 1
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo"
else
    echo "install.sh: run as root, or install sudo" >&2
    exit 1
fi

# Word splitting is wanted in both.
# shellcheck disable=SC2086
{
    $as_root apt-get update
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages
}

echo "ns-2 $(dpkg-query -W -f='${Version}' ns2), ns-3 $(dpkg-query -W -f='${Version}' libns3-dev)"
