#!/usr/bin/env bash
# What scripts/measure-gpu.sh builds with, for a machine without internet: downloads a few Debian 12
# development packages and unpacks their headers, static libraries and CMake files into FOLDER
# (.carry, which git ignores). Run it where apt has a network; nothing is installed.
#   scripts/carry-packages.sh [FOLDER]
# Static libraries of Debian 12 link with a newer glibc and a newer g++ too (same libstdc++ ABI).
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-.carry}
packages=(libabsl-dev libcli11-dev liblzma-dev libssl-dev nlohmann-json3-dev zlib1g-dev)

rm -rf "$folder"
mkdir -p "$folder/debs"
(cd "$folder/debs" && apt-get download -qq "${packages[@]}" 2>/dev/null)
for deb in "$folder"/debs/*.deb; do dpkg-deb --extract "$deb" "$folder"; done
{
  echo "Debian packages, unpacked by scripts/carry-packages.sh; their licences: usr/share/doc/*/copyright"
  (cd "$folder/debs" && ls *.deb)
} >"$folder/README"
rm -rf "$folder/debs" "$folder/usr/share/man" "$folder/usr/lib/ssl" "$folder"/usr/share/doc/*/{html,demos,examples,HOWTO}
# One folder of headers: Debian keeps those that depend on the processor (openssl/configuration.h)
# in another.
for headers in "$folder"/usr/include/*-linux-gnu; do cp -r "$headers"/. "$folder/usr/include/"; done
# Debian's CMake files name Abseil's shared libraries; beside them lie the static ones.
sed -i -E 's/ SHARED IMPORTED/ STATIC IMPORTED/; s/\.so\.[0-9.]+"/.a"/' "$folder"/usr/lib/*/cmake/absl/abslTargets*.cmake
find "$folder" -name '*.so' -delete  # links to the shared libraries, which stay behind
size_mb=$(du -sm "$folder" | cut -f1)
[ "$size_mb" -lt 50 ] || { echo "carry-packages: $folder has $size_mb MB, more than 50" >&2; exit 1; }
echo "carry-packages: ${#packages[@]} packages in $folder, $size_mb MB" >&2
