#!/usr/bin/env bash
# Sets up, builds, runs every test; ends with ctest's own summary. Arguments go to ctest:
# scripts/test.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --tests
scripts/build.sh release
timeout 900 scripts/setup.sh --runtimes || echo "test: build/runtimes is not there (PyPI): the tests of PyTorch 2, ONNX Runtime and OpenVINO are left out" >&2
exec ctest --test-dir build/release --output-on-failure --parallel "$(nproc)" "$@"
