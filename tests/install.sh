#!/bin/sh
# Installs what tests use, from Debian's or Ubuntu's packages: tshark, which reads captures of runs;
# Chromium, which opens pages; fish and zsh, whose completion is tried; and the packages named, such
# as nodejs and npm, which build the lab. Does nothing where they are installed. Needs root, or sudo
# that asks no password. Without them those tests are skipped and say so; with
# FOREBAY_REQUIRE_BROWSER=1 those that need Chromium fail.
set -eu

missing=""
for program in tshark chromium fish zsh "$@"; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
if [ -z "$missing" ] || ! command -v apt-get >/dev/null 2>&1; then
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
        apt-get $patience install -y -qq --no-install-recommends $missing >/dev/null
}
