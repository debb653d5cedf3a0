#!/usr/bin/env bash
# Do tests notice single changes of the source? cargo-mutants makes one at a time and runs the tests
# of its crate:
#   validation/mutants/run.sh PACKAGE [OPTION of cargo mutants ...]   such as --shard 0/10, -f FILE
# Prints the changes that went unnoticed and the share that was noticed. Installs cargo-mutants
# below target/ if there is none.
set -euo pipefail
cd "$(dirname "$0")/../.."

package=${1:?"which package, such as forebay-units"}
shift
tools=$(pwd)/target/tools
PATH=$tools/bin:$PATH
command -v cargo-mutants >/dev/null ||
  cargo install --quiet --locked --root "$tools" cargo-mutants

out=target/mutants/$package
mkdir -p "$out"
# It ends with 2 where changes went unnoticed and 3 where tests hung, which counts as noticed.
cargo mutants -p "$package" -o "$out" --jobs "$(nproc)" --no-shuffle "$@" || [ $? -le 3 ]
python3 - "$out/mutants.out/outcomes.json" "$package" <<'PYTHON'
import json, sys

with open(sys.argv[1], encoding="utf-8") as file:
    counts = json.load(file)
noticed = counts["caught"] + counts["timeout"]
made = noticed + counts["missed"]
print(f"mutants: {sys.argv[2]}: {noticed} of {made} noticed, {100 * noticed / max(made, 1):.1f} %")
PYTHON
