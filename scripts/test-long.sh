#!/usr/bin/env bash
# What is too long for scripts/test.sh: the README's first command on a bare Debian 12 (twice), the images, the sanitizer builds,
# every model of python3-torchvision, a thousand random calls of every torch function,
# 100,000 random Python programs and 10,000 damaged files against CPython.
#   scripts/test-long.sh [quickstart|images|asan|tsan|torchvision|torch|python ...]     all by default; as root
set -euo pipefail
cd "$(dirname "$0")/.."
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(quickstart images asan tsan torchvision torch python)

run_sanitizer() {
  scripts/setup.sh --tests
  scripts/build.sh "$1"
  ctest --test-dir "build/$1" --output-on-failure -LE 'torch|e2e'
}

for step in "${steps[@]}"; do
  case $step in
    quickstart)
      root=$(mktemp -d)
      tests/long/bare_debian.sh quickstart "$root"
      tests/long/bare_debian.sh quickstart "$root"
      rm -rf --one-file-system "$root"
      ;;
    images) tests/long/images.sh ;;
    asan | tsan) run_sanitizer "$step" ;;
    torchvision)
      scripts/setup.sh --tests
      scripts/build.sh release
      /usr/bin/python3 tests/frontend/python/torch/torchvision_suite.py --write docs/torchvision_models.md
      ;;
    torch)
      scripts/setup.sh --tests
      scripts/build.sh release
      for seed in 2 3 4 5; do /usr/bin/python3 tests/frontend/python/torch/torch_support_test.py --cases 250 --seed "$seed"; done
      ;;
    python)
      scripts/setup.sh --tests
      scripts/build.sh release
      mkdir -p docs/long-tests
      export COBRA_BIN=$PWD/build/release/bin
      nice /usr/bin/python3 tests/frontend/python/syntax/mutation_check.py --count 10000 --seed 2 --messages | tee docs/long-tests/syntax_mutations.txt
      # Goes on where it was stopped, if it was.
      nice /usr/bin/python3 -W ignore tests/frontend/python/runtime/differential_test.py --programs 100000 --state build/differential.json |
        tee docs/long-tests/differential_programs.txt
      ;;
    *) echo "test-long: $step: unknown; known are quickstart, images, asan, tsan, torchvision, torch, python" >&2; exit 2 ;;
  esac
done
