#!/usr/bin/env bash
# Builds the container image of the portable programs (docs/operations.md, Containers), for each
# architecture of which there is an archive.
#   scripts/build-images.sh [--source URL] [--out DIR] [ARCHIVE...]
#       ARCHIVE  of scripts/build-portable.sh; default: all in build/portable of this version
#       --source the label org.opencontainers.image.source: where the sources are published
#       --out    default build/images
# Needs buildah and ca-certificates, and no daemon; processors of other architectures need not be
# emulated. The same archives, commit and versions of these two give the same bytes.
#
# DIR/VERSION is an OCI layout with one index of all architectures, DIR/cobra-VERSION-ARCH.tar what
# `docker load` takes, DIR/context a context for `docker buildx build`. ARCHIVE.spdx.json, beside the
# archive without .tar.xz, lists what is in it.
set -euo pipefail
source_url= out= archives=()

fail() { echo "build-images: $*" >&2; exit 1; }

while [ $# -gt 0 ]; do
  case "$1" in
    --source) source_url=${2:?--source needs a URL}; shift 2 ;;
    --out) out=$(realpath -m "${2:?--out needs a folder}"); shift 2 ;;
    -*) echo "build-images: $1: is not an option; see the head of this script" >&2; exit 2 ;;
    *) archives+=("$(realpath -m "$1")"); shift ;;
  esac
done
cd "$(dirname "$0")/.."
out=${out:-$PWD/build/images}
version=$(sed -nE 's/^project\(cobra VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
if [ ${#archives[@]} -eq 0 ]; then
  for archive in build/portable/cobra-"$version"-linux-{x86_64,aarch64}.tar.xz; do
    [ ! -e "$archive" ] || archives+=("$archive")
  done
fi
[ ${#archives[@]} -gt 0 ] || fail "build/portable: has no archive of $version: run scripts/build-portable.sh"
command -v buildah >/dev/null || fail "buildah: is not installed: apt-get install buildah"
# The authorities that Debian ships, not those that were added to this machine.
authorities=$(dpkg-query -W -f='${Version}' ca-certificates 2>/dev/null) || fail "ca-certificates: is not installed"
[ -z "$(dpkg --verify ca-certificates)" ] || fail "ca-certificates: its files were changed: apt-get install --reinstall ca-certificates"

# The archive's files have the time of its commit.
seconds=
for archive in "${archives[@]}"; do
  [ -e "$archive" ] || fail "$archive: no such file: run scripts/build-portable.sh"
  of=$(tar -tvJf "$archive" --utc --full-time 2>/dev/null | sed -nE '1s/.* ([0-9-]+ [0-9:]+) .*/\1/p')
  of=$(date -u -d "$of UTC" +%s)
  [ "${seconds:=$of}" = "$of" ] || fail "$archive: is of another commit than ${archives[0]}: build both again"
done
revision=$(git log --format='%ct %H' | awk -v seconds="$seconds" '$1 == seconds && !found++ { print $2 }')
[ -n "$revision" ] || fail "${archives[0]}: no commit of this repository has its time: run scripts/build-portable.sh"
created=$(date -u -d "@$seconds" +%Y-%m-%dT%H:%M:%SZ)
context=$out/context
rm -rf "$context"
umask 022

# What all architectures share.
root=$context/common
bundle=etc/ssl/certs/ca-certificates.crt
mkdir -p "$root"/etc/ssl/certs "$root"/tmp "$root"/var/lib "$context/state/cobra"
cp docker/root/* "$root/etc/"
chmod 1777 "$root/tmp"
find /usr/share/ca-certificates/mozilla -name '*.crt' -print0 | LC_ALL=C sort -z | xargs -0 cat >"$root/$bundle"
# Without a source, the image has no such label: an empty one would not be a URL.
sed -e "s|@VERSION@|$version|; s|@REVISION@|$revision|; s|@CREATED@|$created|" \
  -e "$([ -n "$source_url" ] && echo "s|@SOURCE@|$source_url|" || echo /@SOURCE@/d)" docker/Dockerfile >"$context/Dockerfile"

storage=$(mktemp -d)
trap 'chmod -R u+rwX "$storage" 2>/dev/null || true; rm -rf --one-file-system "$storage"' EXIT
run_buildah() { buildah --root "$storage/root" --runroot "$storage/run" --storage-driver vfs "$@"; }

images=()
for archive in "${archives[@]}"; do
  case "$(basename "$archive")" in
    cobra-"$version"-linux-x86_64.tar.xz) arch=amd64 ;;
    cobra-"$version"-linux-aarch64.tar.xz) arch=arm64 ;;
    *) fail "$archive: is not named cobra-$version-linux-x86_64.tar.xz or -aarch64.tar.xz" ;;
  esac
  mkdir -p "$context/$arch/usr"
  tar -xJf "$archive" -C "$context/$arch/usr" --strip-components=1 --no-same-owner
  docker/sbom.py "$archive" --created "$created" >"${archive%.tar.xz}.spdx.json"
  sbom=$context/$arch/usr/share/doc/cobra/sbom.spdx.json
  docker/sbom.py "$archive" --created "$created" --file ca-certificates "$authorities" MPL-2.0 "/$bundle" >"$sbom"
  # One timestamp for everything, so that the same archives give the same image.
  run_buildah build --quiet --format docker --isolation chroot --timestamp "$seconds" --platform "linux/$arch" \
    --build-arg "TARGETARCH=$arch" -t "cobra:$arch" "$context" >/dev/null
  run_buildah push --quiet --format v2s2 "cobra:$arch" "dir:$storage/$arch"
  images+=("$arch" "$storage/$arch" "$sbom")
done
docker/image_layout.py "$out" "cobra:$version" "${images[@]}"
