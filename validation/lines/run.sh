#!/usr/bin/env bash
# Which lines of the project its tests run: Rust by rustc's source-based coverage (with rustup's
# component llvm-tools), Python by coverage.py.
#   validation/lines/run.sh [rust | python]     (both unless one is named)
# Prints the share of lines for each crate and package, and the files with most lines that are not
# run. Builds below target/lines, where the whole lists are.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(pwd) out=$(pwd)/target/lines
mkdir -p "$out"

rust() {
  local tools
  tools=$(dirname "$(find "$(rustc --print sysroot)" -name llvm-cov -type f | head -1)")
  [ -x "$tools/llvm-cov" ] || {
    echo "lines: Rust not measured, for want of llvm-cov (rustup component add llvm-tools)"
    return 0
  }
  rm -f "$out"/*.profraw
  export CARGO_TARGET_DIR=$out/build RUSTFLAGS="-C instrument-coverage"
  local test=(cargo test --workspace --exclude forebay-python --exclude forebay-native
    --exclude own-element-engine --tests)
  LLVM_PROFILE_FILE="$out/%p-%m.profraw" "${test[@]}" >"$out/rust.log" 2>&1 || {
    tail -20 "$out/rust.log" >&2
    return 1
  }
  "$tools/llvm-profdata" merge --sparse "$out"/*.profraw -o "$out/rust.profdata"
  rm -f "$out"/*.profraw
  local programs=()
  while read -r program; do programs+=(--object "$program"); done < <(
    "${test[@]}" --no-run --message-format json 2>/dev/null |
      sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | sort -u
  )
  "$tools/llvm-cov" export --summary-only --instr-profile "$out/rust.profdata" \
    --ignore-filename-regex '(/\.cargo/|/rustc/|/tests/|/tests\.rs$)' "${programs[@]}" \
    >"$out/rust.json"
}

python() {
  local tools=$out/tools
  [ -d "$tools" ] || "$root/.venv/bin/python" -m pip install --quiet --target "$tools" coverage
  rm -f "$out"/python.data*
  PYTHONPATH=$tools COVERAGE_FILE=$out/python.data "$root/.venv/bin/python" -m coverage run \
    --source "$root/python/forebay" --parallel-mode -m pytest -q tests/python >"$out/python.log" ||
    { tail -20 "$out/python.log" >&2; return 1; }
  PYTHONPATH=$tools COVERAGE_FILE=$out/python.data "$root/.venv/bin/python" -m coverage combine \
    --quiet
  PYTHONPATH=$tools COVERAGE_FILE=$out/python.data "$root/.venv/bin/python" -m coverage json \
    --quiet -o "$out/python.json"
}

case ${1:-both} in
  both) rust && python ;;
  rust | python) "$1" ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
"$root/.venv/bin/python" "$root/validation/lines/show.py" "$out"
