#!/usr/bin/env bash
# Coverage-guided search (libFuzzer) over the bodies of crates/fuzz, several at once.
#   validation/fuzz/run.sh [-max_total_time=SECONDS | -runs=EXECUTIONS] [TARGET ...]
# Options that begin with a dash go to libFuzzer. Without a nightly compiler nothing is run, and
# that is said: `cargo test -p forebay-fuzz` runs the same bodies on any.
set -euo pipefail
cd "$(dirname "$0")"

if ! rustc +nightly --version >/dev/null 2>&1; then
  echo "fuzz: not run, for want of a nightly compiler (rustup toolchain install nightly)"
  exit 0
fi
options=() targets=()
for argument in "$@"; do
  case $argument in
    -*) options+=("$argument") ;;
    *) targets+=("$argument") ;;
  esac
done
if [ ${#targets[@]} -eq 0 ]; then
  mapfile -t targets < <(ls corpus)
fi

work=$(cd ../.. && pwd)/target/fuzz
PATH=$work/tools/bin:$(cd ../.. && pwd)/.venv/bin:$PATH
if ! command -v cargo-fuzz >/dev/null &&
  ! cargo install --quiet --locked --root "$work/tools" cargo-fuzz; then
  echo "fuzz: not run, for want of cargo-fuzz, which cannot be installed here"
  exit 0
fi
if ! command -v c++ >/dev/null; then
  echo "fuzz: not run, for want of a C++ compiler, which builds libFuzzer"
  exit 0
fi
export CARGO_TARGET_DIR=$work
cargo +nightly fuzz build --sanitizer none --fuzz-dir .
programs=$work/programs
mkdir -p "$programs"
for target in "${targets[@]}"; do
  ln -f "$(ls -t "$work"/*/release/target | head -1)" "$programs/$target"
done

search() {
  local target=$1 found=$work/corpus/$1 log=$work/$1.log more=()
  mkdir -p "$found"
  case $target in
    scenario_text) more=(../../examples ../../crates/scenario/tests/data) ;;
    tcp_script) more=(../tcp-scripts) ;;
  esac
  if "$programs/$target" "$found" "corpus/$target" "${more[@]}" \
    -max_len=4096 -print_final_stats=1 -artifact_prefix="$work/found-$target-" \
    "${@:2}" >"$log" 2>&1; then
    echo "fuzz: $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions," \
      "$(grep -o 'cov: [0-9]*' "$log" | tail -1), nothing found"
  else
    echo "fuzz: $target: $(grep -m1 -A1 'panicked at' "$log" || tail -3 "$log")"
    echo "  the input: $(grep -o "$work/found-[^ ]*" "$log" | tail -1);" \
      "keep it below validation/fuzz/corpus/$target"
    return 1
  fi
}
export -f search
export work programs

printf '%s\0' "${targets[@]}" |
  xargs -0 -P "$(($(nproc) + 1))" -I{} bash -c 'search "$@"' _ {} "${options[@]}"
