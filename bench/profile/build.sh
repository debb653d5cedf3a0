#!/bin/sh
# Rebuilds the engine in .venv for this machine: with all instructions of its processor, and guided
# by a profile of the standard benchmarks (profile-guided optimisation). Results do not change by a
# digit, time does. Needs llvm-profdata of the LLVM that rustc is built with: looks for it, and
# fetches it with rustup or from Debian's packages if it may.
#
# usage: bench/profile/build.sh PYTHON     the interpreter of the environment to install into
set -eu
cd "$(dirname "$0")/../.."
python=$1

llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
find_profdata() {
    for candidate in "$(rustc --print target-libdir)/../bin/llvm-profdata" "llvm-profdata-$llvm"; do
        if command -v "$candidate" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

profdata=$(find_profdata)
if [ -z "$profdata" ] && command -v rustup >/dev/null 2>&1; then
    rustup component add llvm-tools >&2 || true
    profdata=$(find_profdata)
fi
if [ -z "$profdata" ] && command -v apt-get >/dev/null 2>&1; then
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        as_root="sudo -n"
    fi
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "llvm-$llvm" >&2 || true
    profdata=$(find_profdata)
fi
if [ -z "$profdata" ]; then
    echo "build.sh: no llvm-profdata of LLVM $llvm: try \`rustup component add llvm-tools\`" >&2
    exit 1
fi

profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
native="-Ctarget-cpu=native"

echo "building with counters"
RUSTFLAGS="$native -Cprofile-generate=$profile" CARGO_TARGET_DIR=target/profile \
    cargo build --quiet --release --example run -p forebay-scenario
for run in s1-af:10 s1-tcp-red:10 s2-cbr:4 s3-mm1:100; do
    target/profile/release/examples/run "bench/scenarios/${run%:*}.toml" \
        "duration=\"${run#*:} s\"" >/dev/null
done
"$profdata" merge -o "$profile/all.profdata" "$profile"/*.profraw

echo "building with what they counted"
RUSTFLAGS="$native -Cprofile-use=$profile/all.profdata" CARGO_TARGET_DIR=target/fast \
    "$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
    --editable .
