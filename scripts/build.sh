#!/usr/bin/env bash
# Sets up and builds: scripts/build.sh [PRESET] [TARGET...]   preset: release (default), dev, asan, tsan; all targets by default.
# Binaries land in build/PRESET/bin/.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
[ $# -gt 0 ] && shift
scripts/setup.sh
echo "build: configuring preset $preset" >&2
cmake --preset "$preset" -Wno-dev >&2
targets=()
[ $# -gt 0 ] && targets=(--target "$@")
echo "build: compiling ${*:-everything} on $(nproc) cores into build/$preset/bin" >&2
cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}" >&2
