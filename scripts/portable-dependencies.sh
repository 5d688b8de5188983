#!/usr/bin/env bash
# Builds what the portable programs link statically and Debian 12 has no usable static library of:
# prometheus-cpp's core, libpq without Kerberos and LDAP, and the messages of ONNX. Sources are
# Debian's own, in the versions that are installed; a second run does nothing.
#   scripts/portable-dependencies.sh amd64|arm64 [FOLDER]   into build/portable/dependencies-ARCH
#
# FOLDER/lib has libprometheus-cpp-core.a (and its CMake configuration), libpq.a and
# libonnx_proto.a; FOLDER/include their headers, byte for byte those of Debian's development
# packages; FOLDER/versions what they were built from.
# arm64 is compiled across (scripts/setup.sh --portable arm64 installs the compiler), with the
# headers and libraries of Debian's arm64 packages in build/portable/sysroot-arm64: unpacked, not
# installed, as installing them wants this machine's own of exactly these versions.
set -euo pipefail

. "$(dirname "$0")/private-apt.sh"
usage="usage: scripts/portable-dependencies.sh amd64|arm64 [FOLDER]"
arch=${1:-}
case "$arch" in
  amd64) triplet=x86_64-linux-gnu processor=x86_64 ;;
  arm64) triplet=aarch64-linux-gnu processor=aarch64 ;;
  *) echo "portable-dependencies: ${arch:-no architecture}: amd64 or arm64 is expected; $usage" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
folder=$(realpath -m "${2:-build/portable/dependencies-$arch}")
sources=$(realpath -m build/portable/sources)

# logged COMMAND...: shows its output only if it fails.
logged() { "$@" >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; fail "$1 failed, see above"; }; }

fail() { echo "portable-dependencies: $*" >&2; exit 1; }

command -v "$triplet-g++" >/dev/null || fail "$triplet-g++ is missing: run scripts/setup.sh --portable $arch"
command -v dpkg-source >/dev/null || fail "dpkg-source is missing: run scripts/setup.sh --portable $arch"

# installed FIELD PACKAGE
installed() { dpkg-query -W -f="\${$1}" "$2" 2>/dev/null || fail "$2 is not installed: run scripts/setup.sh"; }
postgresql=$(installed source:Version libpq-dev)
postgresql_source=$(installed source:Package libpq-dev)
prometheus=$(installed source:Version prometheus-cpp-dev)
onnx=$(installed Version libonnx-dev)
sysroot=$(realpath -m build/portable/sysroot-arm64)
# What the programs and their tests include and link, beside the C++ library, which comes with the compiler.
sysroot_packages=
if [ "$arch" = arm64 ]; then
  sysroot_packages=" libabsl-dev libboost1.81-dev libc-ares-dev libc6-dev libcli11-dev libeigen3-dev libflatbuffers-dev libgmock-dev libgrpc++-dev libgtest-dev liblzma-dev libprotobuf-dev libre2-dev libseccomp-dev libsqlite3-dev libssl-dev libstdc++6 libtomlplusplus-dev libutf8proc-dev nlohmann-json3-dev zlib1g-dev"
fi
wanted="$postgresql_source $postgresql
prometheus-cpp $prometheus
python3-onnx $onnx$sysroot_packages
built by $(sha256sum <scripts/portable-dependencies.sh | cut -c1-16) with $("$triplet-g++" -dumpfullversion), $(protoc --version)"
[ "$(cat "$folder/versions" 2>/dev/null)" = "$wanted" ] && { [ -z "$sysroot_packages" ] || [ -e "$sysroot/packages" ]; } && exit 0

sources_apt() { private_apt "$sources/apt" "$(dpkg --print-architecture)" "$@"; }

# unpacked PACKAGE VERSION: its source with Debian's patches, in $sources/PACKAGE_VERSION.
unpacked() {
  local into="$sources/$1_${2//:/_}"
  [ -e "$into" ] && return
  (cd "$sources" && sources_apt source --only-source --download-only "$1=$2" >&2) ||
    fail "$1 $2: the mirrors have no such source (any more): upgrade Debian's packages, then run it again"
  rm -rf "$into.partial"
  dpkg-source --no-check -x "$sources/$1_${2#*:}.dsc" "$into.partial" >/dev/null && mv "$into.partial" "$into"
}

# unpacked_sysroot: the packages and all that they depend on, as apt would install them on an empty
# arm64 machine.
unpacked_sysroot() {
  [ "$(cat "$sysroot/packages" 2>/dev/null)" = "$sysroot_packages" ] && [ -e "$sysroot/var/lib/dpkg/status" ] && return
  local apt=$sources/apt-arm64 into=$sysroot.partial package program
  private_apt "$apt" arm64 update
  # shellcheck disable=SC2086
  private_apt "$apt" arm64 --no-install-recommends --download-only -y install $sysroot_packages
  rm -rf "$into"
  mkdir -p "$into/usr/lib" "$into/var/lib/dpkg/info"
  ln -s usr/lib "$into/lib"
  # With what dpkg-query asks for: of which package a file is (portable/list_libraries.py).
  for package in "$apt"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$into" --exclude='./usr/share/man'
    { echo "Status: install ok installed"; dpkg-deb -f "$package"; echo; } >>"$into/var/lib/dpkg/status"
    dpkg-deb --fsys-tarfile "$package" | tar -t | sed 's/^\.//; s|/$||; s/^$/\/./' >"$into/var/lib/dpkg/info/$(dpkg-deb -W --showformat='${Package}' "$package").list"
  done
  rm -rf "$apt/archives"
  # Links to absolute names would lead out of the folder.
  find "$into" -type l -lname '/*' -exec sh -c 'for link; do ln -sfr "$0$(readlink "$link")" "$link"; done' "$into" {} +
  # What the arm64 packages name and this machine runs: generators of code.
  mkdir -p "$into/usr/bin"
  for program in flatc protoc grpc_{cpp,csharp,node,objective_c,php,python,ruby}_plugin; do ln -sf "/usr/bin/$program" "$into/usr/bin/$program"; done
  echo "$sysroot_packages" >"$into/packages"
  rm -rf "$sysroot"
  mv "$into" "$sysroot"
}

mkdir -p "$sources"
sources_apt update
[ -z "$sysroot_packages" ] || unpacked_sysroot
unpacked "$postgresql_source" "$postgresql"
unpacked prometheus-cpp "$prometheus"
# The .proto files as the build of libonnx-dev made them. They are the same on every architecture.
if [ ! -e "$sources/onnx_$onnx" ]; then
  (cd "$sources" && sources_apt download "python3-onnx=$onnx") || fail "python3-onnx $onnx: the mirrors do not have it: upgrade Debian's packages, then run it again"
  dpkg-deb -x "$sources"/python3-onnx_*.deb "$sources/onnx_$onnx.partial"
  mv "$sources/onnx_$onnx.partial" "$sources/onnx_$onnx"
fi

work=$folder.work
out=$folder.partial
rm -rf "$work" "$out"
mkdir -p "$work" "$out/lib" "$out/include/onnx"
# Debian's own flags without debug information; sections, so that the linker drops what nobody calls;
# and no path of this machine in the result.
flags="-O2 -fPIC -fstack-protector-strong -Wformat -Werror=format-security -ffunction-sections -fdata-sections -Wdate-time -D_FORTIFY_SOURCE=2"
flags="$flags -ffile-prefix-map=$work=. -ffile-prefix-map=$sources=. -ffile-prefix-map=$out=."
[ -z "$sysroot_packages" ] || flags="$flags --sysroot=$sysroot -B$sysroot/usr/lib/$triplet/ -ffile-prefix-map=$sysroot="
jobs=$(nproc)

logged cmake -S "$sources/prometheus-cpp_$prometheus" -B "$work/prometheus" -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_SYSTEM_NAME=Linux \
  -DCMAKE_SYSTEM_PROCESSOR=$processor -DCMAKE_C_COMPILER=$triplet-gcc -DCMAKE_CXX_COMPILER=$triplet-g++ \
  -DCMAKE_CXX_FLAGS="$flags -DNDEBUG" -DCMAKE_INSTALL_PREFIX="$out" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
  -DENABLE_PUSH=OFF -DENABLE_PULL=OFF -DENABLE_COMPRESSION=OFF -DENABLE_TESTING=OFF
logged ninja -C "$work/prometheus" -j "$jobs" install

# Debian's directories: the socket's is in a patch of theirs, pg_service.conf's is given here.
mkdir "$work/postgresql"
(
  cd "$work/postgresql"
  logged "$sources/${postgresql_source}_$postgresql/configure" --host=$triplet --prefix=/usr --sysconfdir=/etc/postgresql-common --with-openssl \
    --with-system-tzdata=/usr/share/zoneinfo --without-readline --without-zlib CC=$triplet-gcc AR=$triplet-ar CFLAGS="$flags"
  logged make -j "$jobs" -C src/backend generated-headers
  logged make -j "$jobs" -C src/common libpgcommon_shlib.a
  logged make -j "$jobs" -C src/port libpgport_shlib.a
  logged make -j "$jobs" -C src/interfaces/libpq libpq.a
  # Says with which options PostgreSQL was built: libpq calls none of it, and it names this machine's folders.
  $triplet-ar dD src/common/libpgcommon_shlib.a config_info_shlib.o
  # One library: nobody who links it has to know what it needs of the other two.
  printf '%s\n' "create $out/lib/libpq.a" "addlib src/interfaces/libpq/libpq.a" "addlib src/common/libpgcommon_shlib.a" "addlib src/port/libpgport_shlib.a" save end |
    $triplet-ar -M
  cp src/include/pg_config_ext.h "$out/include"
  cp "$sources/${postgresql_source}_$postgresql"/src/{interfaces/libpq/libpq-fe.h,include/postgres_ext.h} "$out/include"
)

mkdir -p "$work/onnx/onnx"
(
  cd "$work/onnx"
  objects=()
  for name in onnx-ml onnx-operators-ml onnx-data; do
    # As ONNX's own build does for libonnx_proto.so: with reflection, which its source switches off.
    sed '/^option optimize_for = LITE_RUNTIME;/d' "$sources/onnx_$onnx/usr/lib/python3/dist-packages/onnx/$name.proto" >"onnx/$name.proto"
  done
  for name in onnx-ml onnx-operators-ml onnx-data; do
    protoc --cpp_out=dllexport_decl=ONNX_API:. "onnx/$name.proto"
    cmp "onnx/$name.pb.h" "/usr/include/onnx/$name.pb.h" || fail "$name.pb.h: protoc writes another header than libonnx-dev has: are both of one release of Debian?"
    $triplet-g++ $flags -std=c++17 -DNDEBUG -DONNX_API= -I. -c "onnx/$name.pb.cc" -o "$name.o"
    objects+=("$name.o")
  done
  $triplet-ar rcsD "$out/lib/libonnx_proto.a" "${objects[@]}"
  cp onnx/*.pb.h /usr/include/onnx/*_pb.h "$out/include/onnx"
)

rm -r "$out/lib/pkgconfig" # names the folder that it was built in
$triplet-ranlib -D "$out"/lib/*.a
echo "$wanted" >"$out/versions"
rm -rf "$work" "$folder"
mv "$out" "$folder"
echo "portable-dependencies: $(cd "$folder/lib" && echo *.a) in $folder" >&2
