#!/usr/bin/env bash
# Sets up, builds, runs every test; ends with ctest's own summary. Arguments go to ctest:
# scripts/test.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --tests
scripts/build.sh release
# Debian's sources come from where its packages do; without them the tests of the archive are left out.
if scripts/setup.sh --portable && timeout 600 scripts/portable-dependencies.sh amd64; then
  scripts/build-portable.sh x86_64 >&2
fi
timeout 900 scripts/setup.sh --runtimes || echo "test: build/runtimes is not there (PyPI): the tests of PyTorch 2, ONNX Runtime and OpenVINO are left out" >&2
exec ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" "$@"
