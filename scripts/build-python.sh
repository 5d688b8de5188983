#!/bin/sh
# Builds the Python package (docs/python.md). Needs Python 3.9 or newer and protoc (scripts/setup.sh
# installs both). The same sources give the same bytes.
#
#   scripts/build-python.sh [DIR]                       the wheel without programs
#   scripts/build-python.sh --portable PROGRAMS [DIR]   a wheel with programs: PROGRAMS is what
#                                                       scripts/build-portable.sh has made,
#                                                       build/portable/cobra-*.tar.xz or its folder;
#                                                       one for each architecture
#   scripts/build-python.sh --sdist [DIR]               the source distribution
# DIR: where it goes; default build/python, for a wheel with programs build/portable
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
case "${1:-}" in
  --portable)
    [ $# -ge 2 ] || { echo "build-python: --portable: say which programs, build/portable/cobra-*.tar.xz" >&2; exit 2; }
    programs=$2
    shift 2
    set -- --portable "$programs" "${1:-$root/build/portable}"
    ;;
  --sdist) set -- --sdist "${2:-$root/build/python}" ;;
  -*) echo "build-python: $1: --portable PROGRAMS or --sdist is expected" >&2; exit 2 ;;
  *) set -- "${1:-$root/build/python}" ;;
esac
built=$(/usr/bin/python3 "$root/client/python/build_backend.py" "$@")
for folder; do :; done # the last argument
echo "$folder/$built"
