#!/bin/sh
# Builds the wheel of the Python package (docs/python.md). Needs Python 3.9 or newer and protoc
# (scripts/setup.sh installs both). The same sources give the same bytes.
#
#   scripts/build-python.sh [DIR]     DIR: where the wheel goes; default build/python
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/build/python}
mkdir -p "$out"
wheel=$(/usr/bin/python3 "$root/client/python/build_backend.py" "$out")
echo "$out/$wheel"
