#!/usr/bin/env bash
# The gate of the lab: types, lint and layout of its sources, and the unit tests of its modules.
# Changes nothing. Needs node 20 or newer with npm; `lab/build.sh` makes the page.
set -euo pipefail
cd "$(dirname "$0")"
command -v node >/dev/null && command -v npm >/dev/null || {
  echo "lab: not checked: there is no node with npm here, from nodejs.org" >&2
  exit 1
}
./install.sh
npm run --silent check
npm test --silent
