#!/usr/bin/env bash
# Builds both images with buildah on a base made by debootstrap and asks the server image for a
# prediction.
#   tests/long/images.sh [BASE_ROOT]     as root; needs debootstrap, buildah; BASE_ROOT: an existing
#                                        minbase root file system
set -euo pipefail
cd "$(dirname "$0")/../.."
base_root=${1:-}
work=$(mktemp -d)
server_pid=
finish() {
  [ -z "$server_pid" ] || kill -TERM "$server_pid" 2>/dev/null || true
  [ -z "${container:-}" ] || { buildah umount "$container" >/dev/null; buildah rm "$container" >/dev/null; }
  rm -rf --one-file-system "$work"
}
trap finish EXIT
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs

if ! buildah inspect --type image localhost/debian-base >/dev/null 2>&1; then
  if [ -z "$base_root" ]; then
    base_root=$work/base
    debootstrap --variant=minbase bookworm "$base_root" >/dev/null
  fi
  base=$(buildah from scratch)
  buildah add --quiet "$base" "$base_root" / >/dev/null
  buildah config --cmd /bin/bash "$base"
  buildah commit --quiet --rm "$base" localhost/debian-base >/dev/null
fi

mkdir "$work/source"
git archive --format=tar HEAD | tar -x -C "$work/source"
# The compiler's cache of this machine is shared: what is tested is that each image has what it
# needs.
cache=$(ccache --get-config cache_dir 2>/dev/null || true)
share=()
[ ! -d "$cache" ] || share=(--volume "$cache:/root/.cache/ccache")
# What the build says is kept, and a warning of it (an identity out of range) is a failure.
build() {
  echo "images: building cobra-$1"
  buildah build --layers --isolation chroot "${share[@]}" --build-arg BASE=localhost/debian-base \
    -f "docker/$1.Dockerfile" -t "localhost/cobra-$1" "$work/source" >"$work/$1.log" 2>&1 ||
    { tail -n 40 "$work/$1.log" >&2; exit 1; }
  if grep -i 'useradd.*warning' "$work/$1.log" >&2; then exit 1; fi
}

# The server is asked before the worker is built: a fault there shows half an hour earlier.
build server
echo "images: asking the server image"
container=$(buildah from localhost/cobra-server)
user=$(buildah inspect --type image --format '{{.OCIv1.Config.User}}' localhost/cobra-server)
[ -n "$user" ] && [ "$user" != root ] && [ "$user" != 0 ] || { echo "images: the server runs as root" >&2; exit 1; }
buildah run --isolation chroot "$container" -- cobra-server --listen 127.0.0.1:50061 --metrics 127.0.0.1:9474 \
  --model /usr/share/cobra/model --store /var/lib/cobra/cobra.sqlite --library /usr/lib/python3/dist-packages >"$work/run.log" 2>&1 &
server_pid=$!
for _ in $(seq 100); do
  buildah run --isolation chroot "$container" -- cobra-client model --server 127.0.0.1:50061 >/dev/null 2>&1 && break
  sleep 0.5
done
grep -q 'listening on' "$work/run.log" || { tail -n 20 "$work/run.log" >&2; exit 1; }
target=$(buildah run --isolation chroot "$container" -- cobra-client targets --server 127.0.0.1:50061 --format json |
  sed -nE 's/.*"name": *"([^"]+)".*/\1/p' | head -n 1)
buildah run --isolation chroot "$container" -- cobra-client predict \
  /usr/lib/python3/dist-packages/torchvision/models/resnet.py --library /usr/lib/python3/dist-packages \
  --entry 'resnet18()' --input 1x3x224x224 --target "$target" --server 127.0.0.1:50061
build worker
echo "images: probing with the worker image"
worker=$(buildah from localhost/cobra-worker)
buildah run --isolation chroot "$worker" -- cobra-worker probe --json | head -c 300
buildah rm "$worker" >/dev/null
echo
echo "images: ok"
