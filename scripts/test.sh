#!/usr/bin/env bash
# Sets up, builds, runs every test; ends with ctest's own summary. Arguments go to ctest: scripts/test.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --tests
scripts/build.sh release
exec ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" "$@"
