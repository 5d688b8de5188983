#!/usr/bin/env bash
# Runs one of the README's commands on a bare Debian 12 root file system: debootstrap's minbase and
# nothing else.
#   tests/long/bare_debian.sh quickstart|test [ROOT]     as root; needs debootstrap
# ROOT (default: a temporary directory that is removed) is reused when it exists, so a second run
# measures a second run. The compiler's cache of this machine is shared: what is tested is that
# Debian's packages suffice.
set -euo pipefail
cd "$(dirname "$0")/../.."
script=${1:?quickstart or test}
root=${2:-}
if [ -z "$root" ]; then
  root=$(mktemp -d)
  trap 'leave; rm -rf --one-file-system "$root"' EXIT
else
  trap leave EXIT
fi
mounted=(/proc /sys /dev)
leave() {
  local folder
  for folder in "${mounted[@]}"; do umount "$root$folder" 2>/dev/null || umount --lazy "$root$folder" 2>/dev/null || true; done
}

[ -e "$root/etc/debian_version" ] || debootstrap --variant=minbase bookworm "$root" >/dev/null
cp /etc/resolv.conf "$root/etc/resolv.conf"
cache=$(ccache --get-config cache_dir 2>/dev/null || true)
[ ! -d "$cache" ] || mounted+=(/root/.cache/ccache)
for folder in "${mounted[@]}"; do
  mkdir -p "$root$folder"
  [ "$folder" = /root/.cache/ccache ] && mount --bind "$cache" "$root$folder" || mount --bind "$folder" "$root$folder"
done
mkdir -p "$root/cobra"
# What git has, as somebody who clones it gets it; build/ of an earlier run stays.
git archive --format=tar HEAD | tar -x -C "$root/cobra"
start=$(date +%s)
chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb "/cobra/scripts/$script.sh"
echo "bare Debian 12: scripts/$script.sh: exit 0 after $(($(date +%s) - start)) s"
