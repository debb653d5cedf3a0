#!/usr/bin/env bash
# The packages of the lab, installed once for each lock file.
set -euo pipefail
cd "$(dirname "$0")"
cmp -s package-lock.json node_modules/.lock || {
  npm ci --silent --no-fund --no-audit
  cp package-lock.json node_modules/.lock
}
