#!/usr/bin/env bash
# Tries the wheel in a folder as a user would: installs it into an empty environment, without a
# compiler, and runs, checks, sweeps, lists studies and writes the lab. Prints a run's digest.
# usage: .github/try-wheel.sh DIST WORK
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
dist=$(cd "$1" && pwd)
mkdir -p "$2"
cd "$2"
"${PYTHON:-python}" -m venv empty
bin=empty/bin
[ -d "$bin" ] || bin=empty/Scripts
# A file of this name and no other: nothing that an index has is taken for it, nothing is compiled.
"$bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
  --no-index --find-links "$dist" --no-deps forebay
"$bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
  --find-links "$dist" forebay
{
  "$bin/forebay" --version
  "$bin/forebay" studies
  "$bin/forebay" check "$root/examples/bufferbloat.toml"
  "$bin/forebay" run "$root/bench/scenarios/s1-af.toml" --until "2 s" --check --out run
  "$bin/forebay" lab "$root/examples/bufferbloat.toml" --write lab.html
  cat > sweep.toml <<SWEEP
scenario = "short.toml"
replications = 2
quantities = ["links.access.utilization"]
[grid]
"links.access.rate" = ["5 Mbit/s", "10 Mbit/s"]
SWEEP
  "$bin/forebay" new bufferbloat short.toml
  "$bin/forebay" sweep sweep.toml --until "12 s" --out sweep
} >&2
"$bin/forebay" run "$root/bench/scenarios/s1-af.toml" --until "2 s" --json > run.json
"$bin/python" -c 'import json; print(json.load(open("run.json"))["digest"])'
