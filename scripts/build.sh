#!/usr/bin/env bash
# Sets up and builds: scripts/build.sh [--without-lab] [PRESET] [TARGET...]
#   PRESET          release (default), dev, asan, tsan; all targets by default. Binaries land in
#                   build/PRESET/bin/.
#   --without-lab   leaves out the comparisons with published methods (`cobra-train table`), and so
#                   XGBoost. A later run without this flag compiles them and nothing else again.
set -euo pipefail
cd "$(dirname "$0")/.."

setup=(scripts/setup.sh)
lab=ON
if [ "${1:-}" = "--without-lab" ]; then
  setup+=(--without-lab)
  lab=OFF
  shift
fi
preset=${1:-release}
[ $# -gt 0 ] && shift
"${setup[@]}"
echo "build: configuring preset $preset" >&2
cmake --preset "$preset" -DCOBRA_LAB=$lab -Wno-dev >&2
targets=()
[ $# -gt 0 ] && targets=(--target "$@")
echo "build: compiling ${*:-everything} on $(nproc) cores into build/$preset/bin" >&2
cmake --build --preset "$preset" --parallel "$(nproc)" "${targets[@]}" >&2
