#!/bin/sh
# Runs a command, a build of the engine, so that cargo is guided by a profile of short runs of the
# benchmarks and studies (profile-guided optimisation). Results do not change by a digit, time does:
# by a tenth. The profile is made once for each compiler and kept in target/profile; parts of the
# engine that changed since are built without it.
#
# Needs llvm-profdata of the LLVM that rustc is built with: looks for it, and fetches it with rustup
# or from Debian's packages if it may. Without it the command is run as it is, which is said.
#
# usage: bench/profile/guided.sh [--fresh] [--native] COMMAND...
#   --fresh    make the profile anew
#   --native   use all instructions of this machine's processor: others may not run the build
set -eu
cd "$(dirname "$0")/../.."
fresh="" native=""
while :; do
    case "${1-}" in
        --fresh) fresh=yes ;;
        --native) native="-Ctarget-cpu=native" ;;
        *) break ;;
    esac
    shift
done

compiler=$(rustc -vV | sed -n 's/^commit-hash: //p' | cut -c 1-12)
llvm=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
folder=$PWD/target/profile
profile=$folder/${compiler:-unknown}.profdata

find_profdata() {
    for candidate in "$(rustc --print target-libdir)/../bin/llvm-profdata" "llvm-profdata-$llvm"; do
        if command -v "$candidate" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

fetch_profdata() {
    if command -v rustup >/dev/null 2>&1; then
        rustup --quiet component add llvm-tools >&2 || true
    elif command -v apt-get >/dev/null 2>&1; then
        as_root=""
        if [ "$(id -u)" -ne 0 ]; then
            as_root="sudo -n"
        fi
        $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "llvm-$llvm" >&2 || true
    fi
}

# Short runs of all that is hot somewhere: what no run reaches is built as if it never mattered.
run_all() {
    for run in s1-af:5 s1-tcp-red:5 s2-cbr:2 s3-mm1:50 s6-fq:1 s7-bbr:2 s8-l4s:2 s9-access:5 \
        s10-mix:8 p1-dual-bottleneck:2 c1-cells:20; do
        "$1" "bench/scenarios/${run%:*}.toml" "duration=\"${run#*:} s\""
    done
    for scenario in studies/*/scenario.toml crates/scenario/tests/data/*.toml; do
        "$1" "$scenario"
    done
}

# Built together with what is built later, so that crates have the same features and the same names.
make_profile() {
    counts=$folder/counts
    rm -rf "$counts"
    # More room for what indirect calls lead to than LLVM takes by itself: it warns of too little.
    RUSTFLAGS="-Cprofile-generate=$counts -Cllvm-args=-vp-counters-per-site=8" \
        CARGO_TARGET_DIR=$folder/build \
        cargo build --quiet --release --example run -p forebay-scenario -p forebay-native
    run_all "$folder/build/release/examples/run" >/dev/null
    "$(find_profdata)" merge -o "$profile" "$counts"/*.profraw
    rm -rf "$counts"
}

if [ -z "$(find_profdata)" ]; then
    fetch_profdata
fi
if [ -z "$(find_profdata)" ]; then
    echo "no llvm-profdata of LLVM $llvm here: built without a profile, a tenth slower" >&2
else
    if [ -n "$fresh" ] || [ ! -f "$profile" ]; then
        echo "making a profile of the engine"
        make_profile
    fi
    native="$native -Cprofile-use=$profile"
fi
RUSTFLAGS="${RUSTFLAGS-} $native" CARGO_TARGET_DIR=$PWD/target/guided exec "$@"
