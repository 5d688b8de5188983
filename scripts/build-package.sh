#!/usr/bin/env bash
# Builds the Debian package of the programs, and the wheel of the Python package beside it
# (docs/installing.md).
#   scripts/build-package.sh [DIR]     DIR: where they go; default build/packages
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build/packages}
scripts/build.sh release cobra-client cobra-server cobra-reader cobra-worker cobra-train cobra_self_description
mkdir -p "$out"
# Packages of an earlier version are not mistaken for this one's.
rm -f build/release/packages/*.deb
(cd build/release && cpack -G DEB --config CPackConfig.cmake >&2)
cp build/release/packages/*.deb "$out/"
ls "$out"/cobra_*.deb
scripts/build-python.sh "$(cd "$out" && pwd)"
