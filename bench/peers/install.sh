#!/bin/sh
# Installs the simulators that bench/peers compares with: from Debian's or Ubuntu's packages ns-2,
# the ns-3 library with its headers and the compiler for its programs (needs root, or sudo); from
# PyPI ns.py and daytone, into .venv-peers at the root of the repository. What cannot be installed
# is named, and the rest still is. Not needed to build, test or use forebay.
set -eu

packages="ns2 libns3-dev g++ pkg-config python3-venv"
venv="$(dirname "$0")/../../.venv-peers"
status=0

# How many of the packages are there already.
there() {
    # Word splitting is wanted.
    # shellcheck disable=SC2086
    dpkg-query -W -f='${Status}\n' $packages 2>/dev/null | grep -c "ok installed" || true
}

if ! command -v apt-get >/dev/null 2>&1; then
    echo "install.sh: no apt-get here; install by hand what provides: $packages" >&2
    status=1
elif [ "$(there)" -eq "$(echo "$packages" | wc -w)" ]; then
    echo "Debian packages: installed already"
elif [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null 2>&1; then
    as_root=""
    [ "$(id -u)" -eq 0 ] || as_root="sudo"
    # Word splitting is wanted in both.
    # shellcheck disable=SC2086
    {
        $as_root apt-get update
        $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y --no-install-recommends $packages
    }
else
    echo "install.sh: for ns-2 and ns-3, run as root or install sudo" >&2
    status=1
fi

[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check ns.py==0.4.3 daytone==0.3.4

if command -v dpkg-query >/dev/null 2>&1; then
    dpkg-query -W -f='${Package} ${Version}\n' ns2 libns3-dev 2>/dev/null || true
fi
"$venv/bin/python" -m pip list --disable-pip-version-check 2>/dev/null |
    grep -E '^(ns.py|daytone|simpy) '
exit $status
