#!/usr/bin/env bash
# The digests of crates/scenario/tests/golden.txt on other platforms, under QEMU's user mode:
#   validation/platforms/run.sh [TARGET ...]     (aarch64, s390x, big-endian, and i686, 32-bit)
# and on this one in release and debug builds. Installs Rust's targets with rustup and Debian's
# cross linkers and qemu-user with apt-get, where they lack and it may.
set -euo pipefail
cd "$(dirname "$0")/../.."

targets=("$@")
[ ${#targets[@]} -gt 0 ] ||
  targets=(aarch64-unknown-linux-gnu s390x-unknown-linux-gnu i686-unknown-linux-gnu)
test_digests() { cargo test --quiet -p forebay-scenario --test scenarios golden "$@"; }

install_for() {
  local short=$1 debian=$2
  command -v "$short-linux-gnu-gcc" >/dev/null && command -v "qemu-$short" >/dev/null && return
  command -v qemu-i386 >/dev/null && [ "$short" = i686 ] &&
    command -v i686-linux-gnu-gcc >/dev/null && return
  apt-get install -y -qq qemu-user "gcc-$short-linux-gnu" "libc6-dev-$debian-cross"
}

echo "== this platform, debug build"
test_digests
echo "== this platform, release build"
test_digests --release
for target in "${targets[@]}"; do
  short=${target%%-*}
  case $short in
    aarch64) debian=arm64 emulator=qemu-aarch64 ;;
    i686) debian=i386 emulator=qemu-i386 ;;
    *) debian=$short emulator=qemu-$short ;;
  esac
  echo "== $target"
  install_for "$short" "$debian"
  rustup target add "$target"
  name=$(tr 'a-z-' 'A-Z_' <<<"$target")
  env "CARGO_TARGET_${name}_LINKER=$short-linux-gnu-gcc" \
    "CARGO_TARGET_${name}_RUNNER=$emulator -L /usr/$short-linux-gnu" \
    "CC_${target//-/_}=$short-linux-gnu-gcc" \
    cargo test --quiet -p forebay-scenario --test scenarios --target "$target" golden
done
