#!/usr/bin/env bash
# The portable programs of aarch64 (scripts/test-long.sh aarch64): compiled across, their unit and e2e
# tests in qemu's user mode, then on Debian's kernels for aarch64 in an emulated machine.
# tests/long/aarch64_left_out.txt names the tests that are not run, with reasons.
#   tests/long/aarch64.sh [programs] [tests] [boot]     all three by default
set -uo pipefail
cd "$(dirname "$0")/../.."
. scripts/private-apt.sh
[ $# -gt 0 ] || set -- programs tests boot
build=build/aarch64 cobra=build/aarch64/bin/cobra status=0

run_programs() {
  scripts/setup.sh --tests && scripts/setup.sh --portable arm64 && scripts/build-portable.sh aarch64 &&
    cmake --build --preset aarch64 --parallel "$(nproc)"
}

# A reader is confined by a filter that qemu's user mode does not know, so servers start without it:
# through a script in the place of cobra-server. build/aarch64/emulated is where tests find programs.
lay_out_programs() {
  rm -rf "$build/emulated" "$build/insecure"
  cp -al "$build/bin" "$build/emulated" && mkdir "$build/insecure" || return 1
  ln "$build"/bin/cobra-{server,reader} "$build/insecure/"
  rm "$build/emulated/cobra-server"
  printf '#!/bin/sh\nexec "%s/insecure/cobra-server" --insecure-reader "$@"\n' "$PWD/$build" >"$build/emulated/cobra-server"
  chmod +x "$build/emulated/cobra-server"
}

# names KIND: those of aarch64_left_out.txt, with KIND test or case, joined by the character $2.
names() { sed -nE "s/^$1 ([^:]*): .*/\1/p" tests/long/aarch64_left_out.txt | paste -sd "$2"; }

# emulated_ctest ARGUMENT...
emulated_ctest() {
  COBRA_TESTS_INSECURE_READER=1 GTEST_OUTPUT=xml:$PWD/$build/emulated-cases/ GTEST_FILTER=-$(names case :) \
    tests/long/emulated.sh ctest --test-dir "$build" --output-on-failure "$@" 2>&1
}

# What fails beside another test is run again by itself: emulated programs are slow, deadlines are not.
run_tests() {
  local left log=$build/emulated-tests.txt result
  lay_out_programs || return 1
  left=$(names test '|')
  rm -rf "$build/emulated-cases"
  emulated_ctest --parallel "$(nproc --all)" -E "^(${left//\*/.*})\$" | tee "$log"
  result=${PIPESTATUS[0]}
  if [ "$result" -ne 0 ]; then
    emulated_ctest --rerun-failed -E "^(${left//\*/.*})\$" | tee "$log.again"
    result=${PIPESTATUS[0]}
  fi
  echo "left out:"
  grep -v '^#' tests/long/aarch64_left_out.txt
  echo "of GoogleTest $(cat "$build"/emulated-cases/*.xml | grep -c 'status="run"') cases ran; $(grep -oE '[0-9]+ tests failed out of [0-9]+' "$log"), $(grep -c Skipped "$log") skipped"
  return "$result"
}

# unpacked NAME META RELEASE: the files of the package that META stands for, below build/aarch64/boot/NAME.
unpacked() {
  local apt package into
  apt=$(realpath -m "$build/boot/apt-$1") into=$build/boot/$1
  [ ! -e "$into" ] || return 0
  export PRIVATE_APT_RELEASE=$3
  private_apt "$apt" arm64 update || return 1
  package=$(private_apt "$apt" arm64 -s --no-install-recommends install "$2" | sed -nE "s/^Inst ((linux-image-[0-9]|busybox)[^ ]*) .*/\1/p")
  (cd "$apt" && rm -f ./*.deb && private_apt "$apt" arm64 download "$package") || return 1
  mkdir -p "$into.partial" && dpkg-deb --fsys-tarfile "$apt"/*.deb | tar -x -C "$into.partial" --wildcards './boot/vmlinuz*' './bin/busybox' 2>/dev/null
  [ -e "$into.partial/boot" ] || [ -e "$into.partial/bin/busybox" ] || { echo "aarch64: $2: has no kernel"; return 1; }
  rm -rf "$apt"
  mv "$into.partial" "$into"
}

# Kernels with pages of 4 KiB from this release of Debian, of 16 KiB from the next one. Debian has none
# with 64 KiB.
run_boot() {
  local kernel result=0
  (unpacked busybox busybox-static "" && unpacked kernel-4k linux-image-arm64 "" && unpacked kernel-16k linux-image-arm64-16k trixie) || return 1
  for kernel in "$build"/boot/kernel-*/boot/vmlinuz*; do
    /usr/bin/python3 tests/long/aarch64_boot.py "$kernel" "$build/boot/busybox/bin/busybox" "$cobra" build/release/bin/cobra || result=1
  done
  return $result
}

for part in "$@"; do
  case $part in
    programs) run_programs >&2 || exit 1 ;;
    tests) run_tests || status=1 ;;
    boot) run_boot || status=1 ;;
    *) echo "aarch64: $part: programs, tests or boot is expected" >&2; exit 2 ;;
  esac
done
exit $status
