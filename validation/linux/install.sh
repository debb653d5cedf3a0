#!/bin/sh
# The Debian packages that `forebay linux --run` and the build of its kernel need; as root.
set -eu

apt-get install --yes --no-install-recommends \
  iproute2 iperf3 ethtool python3 linux-source-6.1 bison flex bc gcc libc6-dev make xz-utils
