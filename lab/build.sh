#!/usr/bin/env bash
# The page of `forebay lab`: python/forebay/lab/page.html, one file with the engine in it.
#   lab/build.sh            engine and page            lab/build.sh page    the page alone
# Needs node 20 or newer with npm, and Rust's target wasm32-unknown-unknown, which rustup adds;
# where there is no rustup, Debian's rustc-web with the sources of its standard library does, which
# is installed with apt-get where that is allowed.
set -euo pipefail
cd "$(dirname "$0")/.."

TARGET=wasm32-unknown-unknown
OUT=${CARGO_TARGET_DIR:-target}/$TARGET/lab/forebay_wasm.wasm

has_target() { [ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET" ]; }

# Debian's compiler has the target and the sources, but no compiled standard library.
with_debian() {
  [ -x /usr/bin/rustc ] && [ -d /usr/lib/rustlib/src/rust/library ] ||
    { apt-get update -qq && apt-get install -y -qq rustc-web rust-web-src; }
  local linker
  linker=$(find "$(rustc --print sysroot)/lib/rustlib" /usr/lib -name rust-lld 2>/dev/null |
    head -n 1)
  RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="-C linker=${linker:-wasm-ld}" \
    cargo build --profile lab -p forebay-wasm --target $TARGET -Z build-std=std,panic_abort
}

engine() {
  has_target || ! command -v rustup >/dev/null || rustup target add $TARGET || true
  if has_target; then
    cargo build --profile lab -p forebay-wasm --target $TARGET
  else
    with_debian
  fi
  mkdir -p lab/dist
  cp "$OUT" lab/dist/forebay.wasm
}

command -v npm >/dev/null || { echo "lab: needs node and npm, from nodejs.org" >&2; exit 1; }
[ "${1:-}" = page ] || engine
cd lab
./install.sh
npm run --silent build
