#!/usr/bin/env bash
# emulated.sh COMMAND ...: runs it where the kernel starts programs of aarch64 in qemu-aarch64-static,
# those that a program starts too. binfmt_misc belongs to a user namespace (Linux 6.7), so that the
# machine's own stays as it is.
set -euo pipefail
cd "$(dirname "$0")/../.."
format=/usr/lib/binfmt.d/qemu-aarch64.conf
[ -e "$format" ] || { echo "emulated: $format is missing: run scripts/setup.sh --portable arm64" >&2; exit 1; }
export QEMU_LD_PREFIX=$PWD/build/portable/sysroot-arm64
# shellcheck disable=SC2016
exec unshare --user --map-root-user --mount --propagation private sh -c '
  { mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc && cat "$0" >/proc/sys/fs/binfmt_misc/register; } ||
    { echo "emulated: this kernel has no binfmt_misc of its own for a user namespace: it needs Linux 6.7" >&2; exit 1; }
  exec "$@"' "$format" "$@"
