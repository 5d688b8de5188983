#!/usr/bin/env bash
# What is too long for scripts/test.sh: the README's first command on a bare Debian 12 (twice), the images, the sanitizer builds,
# every model of python3-torchvision.
#   scripts/test-long.sh [quickstart|images|asan|tsan|torchvision ...]     all by default; as root
set -euo pipefail
cd "$(dirname "$0")/.."
steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(quickstart images asan tsan torchvision)

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
    *) echo "test-long: $step: unknown; known are quickstart, images, asan, tsan, torchvision" >&2; exit 2 ;;
  esac
done
