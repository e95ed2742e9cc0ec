#!/usr/bin/env bash
# Installs what is needed, builds mlbcc, and runs all tests. Needs Debian 12 and root; what a machine
# cannot do is skipped, each skip with its reason. The last line is the count.
#
#   scripts/test.sh                     everything
#   scripts/test.sh --only unit,layers  some steps (scripts/test.sh --list)
#   scripts/test.sh --only runtime -k args
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" -ne 0 ] || scripts/setup.sh --tests
python3 tests/npm_install.py page chromium || true  # the tests that need it say so
python3 tests/npm_install.py otlp || true
exec python3 scripts/run_tests.py "$@"
