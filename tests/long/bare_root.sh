# Functions for long tests that install packages into bare roots of Debian 12, to be sourced. They
# need root and debootstrap.
# `work`: a temporary folder of the test, removed at its end with all that runs or is mounted below
# it.
work=$(mktemp -d)
roots=()

leave() {
  local root folder process
  for root in "${roots[@]}"; do
    for process in /proc/[0-9]*; do # a server that a test has started there
      [ "$(readlink "$process/root")" != "$root" ] || kill "${process#/proc/}" 2>/dev/null || true
    done
    for folder in /proc /dev; do umount "$root$folder" 2>/dev/null || umount --lazy "$root$folder" 2>/dev/null || true; done
  done
  roots=()
}
set -E
trap 'echo "${0##*/}: line $LINENO: $BASH_COMMAND" >&2' ERR
trap 'leave; rm -rf --one-file-system "$work"' EXIT

# A bare Debian 12 in the new folder $1: debootstrap's minbase and nothing else; a second one is a
# copy of the first. `root` is it from now on.
make_root() {
  local folder
  root=$(realpath "$1")
  [ -e "$work/bare" ] || debootstrap --variant=minbase bookworm "$work/bare" >/dev/null
  cp -a "$work/bare" "$root"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  roots+=("$root")
  for folder in /proc /dev; do mount --bind "$folder" "$root$folder"; done
}

# COMMAND ... in the root, as its superuser, or as the user whom new_user has made.
inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb DEBIAN_FRONTEND=noninteractive "$@"; }
new_user() { inside useradd --uid 1000 --create-home ada; }
as_user() { inside setpriv --reuid=1000 --regid=1000 --clear-groups env -C /home/ada HOME=/home/ada "${pip_settings[@]}" "$@"; }

# quietly FILE COMMAND ...: what it says goes into FILE, and is shown where it fails.
quietly() { "${@:2}" >"$1" 2>&1 || { tail -n 30 "$1" >&2; return 1; }; }

# pip in the root reaches PyPI as pip does here, by pip's own settings.
pip_settings=()
carry_pip_settings() {
  local name value
  pip_settings=()
  for name in index-url proxy trusted-host; do
    value=$(/usr/bin/python3 -m pip config get "global.$name" 2>/dev/null) || continue
    pip_settings+=("PIP_$(tr a-z- A-Z_ <<<"$name")=$value")
  done
  value=${PIP_CERT:-$(/usr/bin/python3 -m pip config get global.cert 2>/dev/null || true)}
  [ -z "$value" ] || { cp "$value" "$root/etc/pip-authorities.pem" && pip_settings+=(PIP_CERT=/etc/pip-authorities.pem); }
}
