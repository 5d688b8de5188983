#!/usr/bin/env bash
# Builds the portable programs: one archive that runs on any Linux, whatever its distribution and C
# library (docs/installing.md).
#   scripts/build-portable.sh [x86_64|aarch64]     default: this machine's
# The archive is build/portable/cobra-VERSION-linux-ARCH.tar.gz, the same as .tar.xz; beside them are
# its folder and the wheel (docs/python.md). On a machine of the other architecture the programs are
# compiled across. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

arch=${1:-$(uname -m)}
case "$arch" in
  x86_64) debian=amd64 triplet=x86_64-linux-gnu ;;
  aarch64) debian=arm64 triplet=aarch64-linux-gnu ;;
  *) echo "build-portable: $arch: x86_64 or aarch64 is expected" >&2; exit 2 ;;
esac
preset=release
[ "$arch" = "$(uname -m)" ] || preset=$arch

scripts/setup.sh --portable "$debian"
scripts/portable-dependencies.sh "$debian"
# What the programs know of their targets is the same for every processor: a server of this machine
# is asked.
[ "$preset" = release ] || scripts/portable-dependencies.sh "$(dpkg --print-architecture)"
cmake --preset release -Wno-dev >&2
cmake --build --preset release --parallel "$(nproc)" --target cobra >&2
if [ "$preset" != release ]; then
  cmake --preset "$preset" -Wno-dev >&2
  cmake --build --preset "$preset" --parallel "$(nproc)" --target cobra >&2
fi
version=$(build/release/bin/cobra --version | cut -d' ' -f2)
name=cobra-$version-linux-$arch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name share=$work/$name/share/cobra docs=$work/$name/share/doc/cobra
mkdir -p "$root/bin" "$share" "$docs/licences"

cp "build/$preset/bin/cobra" "$root/bin/"
for program in client server reader worker; do ln -s cobra "$root/bin/cobra-$program"; done
# Tracked files only: nothing that a build or a test has left there.
copy() { git ls-files -z -- "$1" | tar --exclude='*.jsonl' --null --files-from=- -c | tar -x -C "$2"; }
copy model/pretrained "$share"
copy data/devices "$share"
copy data/layers "$share"
copy data/lists "$share"
copy data/networks "$share"
copy worker/runners "$share"
copy proto/cobra "$share"
copy docs "$docs"
copy examples "$docs"
cp README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE "$docs/"
mkdir "$work/here"
for program in client server reader; do ln -s "$PWD/build/release/bin/cobra" "$work/here/cobra-$program"; done
cmake/describe_targets.sh "$work/here" "$docs/docs/target_cards.md"
rm -r "$work/here"
/usr/bin/python3 portable/list_libraries.py "build/$preset/bin/cobra.libraries" "$triplet" "$docs"

find "$work" -exec touch --no-dereference --date="@$(git log -1 --format=%ct)" {} +
chmod -R u=rwX,go=rX "$root"
rm -rf "build/portable/$name" "build/portable/$name".tar.*
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -cf "$work/$name.tar" "$name"
# A small system has gzip but no xz; whoever has xz loads a third less.
xz -9 --threads=1 --keep "$work/$name.tar"
gzip -9 --no-name "$work/$name.tar"
mv "$work/$name".tar.* build/portable/
mv "$root" build/portable/
for file in "$name.tar.gz" "$name.tar.xz"; do
  (cd build/portable && sha256sum "$file" >"$file.sha256")
  echo "build-portable: build/portable/$file, $(du -k "build/portable/$file" | cut -f1) KB" >&2
done
scripts/build-python.sh --portable "build/portable/$name.tar.xz" build/portable
echo "build/portable/$name.tar.xz"
