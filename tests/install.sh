#!/bin/sh
# Installs tshark, which reads captures of runs in the tests, from Debian's or Ubuntu's packages.
# Does nothing where it is installed. Needs root, or sudo that asks no password. Without tshark
# those tests are skipped and say so.
set -eu

if command -v tshark >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    exit 0
fi

# Without a network, say so soon.
patience="-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1"
# Word splitting is wanted.
# shellcheck disable=SC2086
{
    $as_root apt-get $patience update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get $patience install -y -qq --no-install-recommends tshark >/dev/null
}
