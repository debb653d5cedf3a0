#!/usr/bin/env bash
# Do the crates still offer what they offered, or does their version say that they do not?
#   validation/semver/run.sh [REVISION]     (HEAD~1 unless another is named: v0.1.0)
# cargo-semver-checks compares what each published crate offers with what it offered at a revision
# of git. Installs it below target/ if there is none. A crate that was not there yet is left out.
set -euo pipefail
cd "$(dirname "$0")/../.."

revision=${1:-HEAD~1}
tools=$(pwd)/target/tools
PATH=$tools/bin:$PATH
command -v cargo-semver-checks >/dev/null ||
  cargo install --quiet --locked --root "$tools" cargo-semver-checks

# In the order of the names: published crates with a library, those of them that the revision had.
mapfile -t crates < <(
  cargo metadata --no-deps --format-version 1 | python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] != []:
        print(package["name"])'
)
packages=()
for crate in "${crates[@]}"; do
  if git cat-file -e "$revision:crates/${crate#forebay-}/Cargo.toml" 2>/dev/null; then
    packages+=(--package "$crate")
  else
    echo "semver: $crate: not there at $revision"
  fi
done
cargo semver-checks --baseline-rev "$revision" "${packages[@]}"
echo "semver: $((${#packages[@]} / 2)) crates offer what they offered at $revision"
