#!/bin/sh
# Installs valgrind, with which the guard beside this file counts instructions, from Debian's or
# Ubuntu's packages. Does nothing where it is installed. Needs root, or sudo that asks no password.
# Not needed to build, test or use forebay: without valgrind the guard says so and passes.
set -eu

if command -v valgrind >/dev/null 2>&1; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "install.sh: no apt-get here; install valgrind by hand" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    as_root=""
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "install.sh: neither root nor sudo without a password: apt-get install valgrind" >&2
    exit 1
fi

# Without a network, say so soon. libc6-dbg is what valgrind needs to start at all.
patience="-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1"
# Word splitting is wanted.
# shellcheck disable=SC2086
{
    $as_root apt-get $patience update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get $patience install -y -qq --no-install-recommends valgrind libc6-dbg >/dev/null
}
valgrind --version
