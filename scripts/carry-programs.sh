#!/usr/bin/env bash
# What scripts/train-gpu.sh and measure-gpu.sh --worker run on a GPU machine without internet and
# without this project's packages: cobra-train and cobra-worker, whichever a build has, stripped,
# with the libraries that they need besides LibTorch, packed into FOLDER/programs.tar.xz (.carry,
# which git ignores). The build is one against the same LibTorch as the other machine's, which a
# Python package of the same version has:
#   cmake -S . -B build/torch -G Ninja -DCMAKE_BUILD_TYPE=Release -DCOBRA_TESTS=OFF
#   -DCOBRA_TORCH_DIR=.../site-packages/torch
#   ninja -C build/torch cobra-train cobra-worker && scripts/carry-programs.sh build/torch [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:?"carry-programs: which build? see the head of $0"}
folder=${2:-.carry}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder" "$work/programs/bin" "$work/programs/lib" "$work/programs/real"
for program in cobra-train cobra-worker; do
  [ -e "$build/bin/$program" ] || continue
  strip -o "$work/programs/real/$program" "$build/bin/$program"
  # Of the other machine: LibTorch with its CUDA, and what belongs to the C and C++ runtime, which
  # is newer there or the same.
  ldd "$build/bin/$program" | awk '$3 ~ "^/(usr/)?lib/" {print $3}' | sort -u |
    grep -v -E '/(libc|libm|libdl|librt|libpthread|libresolv|libgcc_s|libstdc\+\+|ld-linux[^/]*)\.so' |
    xargs -r -n1 -I{} cp -nL {} "$work/programs/lib/"
  cat >"$work/programs/bin/$program" <<'WRAPPER'
#!/usr/bin/env bash
here=$(cd "$(dirname "$0")/.." && pwd)
torch=$(python3 -c 'import importlib.util; print(importlib.util.find_spec("torch").submodule_search_locations[0])')
# The programs are not in their tree: its data is where the scripts run.
COBRA_DATA=${COBRA_DATA:-$PWD} LD_LIBRARY_PATH=$torch/lib:$here/lib exec "$here/real/$(basename "$0")" "$@"
WRAPPER
  chmod +x "$work/programs/bin/$program"
done
strip --strip-unneeded "$work"/programs/lib/*.so* || true
tar -C "$work" -cf - programs | xz -T2 -6 >"$folder/programs.tar.xz"
echo "carry-programs: $(du -k "$folder/programs.tar.xz" | cut -f1) KB in $folder/programs.tar.xz" >&2
