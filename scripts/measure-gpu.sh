#!/usr/bin/env bash
# Measures on a GPU machine in one command: builds the worker alone (no gRPC, no databases, no
# internet) against the LibTorch of `python3 -c "import torch"`, then takes turns between precisions
# and spaces until the budget is spent, the most valuable first, so that wherever it is cut all have
# grown.
#   scripts/carry-packages.sh                                # once, on a machine with a network
#   OUT=out scripts/measure-gpu.sh --budget 8m               # there; records in OUT, gzip, files
#                                                            below 16 MB
#   OUT=out scripts/measure-gpu.sh --budget 8m --resume DIR  # another day: DIR holds an earlier OUT
#   OUT=out scripts/measure-gpu.sh --worker PROGRAM          # builds nothing: PROGRAM comes from
#                                                            scripts/carry-programs.sh, unpacked
# Options: --device cuda:0|cpu  --precisions float32,bfloat16,...  --rounds N  --carry FOLDER 
#                               --spaces A,B --counts N,M  --seed N
set -euo pipefail
cd "$(dirname "$0")/.."

budget=8m device=cuda precisions=tf32-convolutions,float32,tf32,float16,bfloat16 rounds= carry=.carry resume= seed=1 worker=
# Layers teach most for their time; a network takes as long as ten of them. Wherever the series is
# cut, all spaces have grown in these proportions.
spaces=real-layers,program-layers,paper-layers,torchvision,timm,real-networks,paper-networks counts=9000,3000,1500,318,318,120,90
while [ $# -gt 0 ]; do
  case $1 in
    --budget) budget=$2 ;;
    --device) device=$2 ;;
    --precisions) precisions=$2 ;;
    --rounds) rounds=$2 ;;
    --carry) carry=$2 ;;
    --resume) resume=$2 ;;
    --spaces) spaces=$2 ;;
    --counts) counts=$2 ;;
    --seed) seed=$2 ;;
    --worker) worker=$2 ;;
    *) echo "measure-gpu: $1: unknown; see the head of $0" >&2; exit 2 ;;
  esac
  shift 2
done
case $budget in
  *s) seconds=${budget%s} ;;
  *m) seconds=$((${budget%m} * 60)) ;;
  *h) seconds=$((${budget%h} * 3600)) ;;
  *) echo "measure-gpu: --budget $budget: a number with s, m or h" >&2; exit 2 ;;
esac
# What a turn has measured is kept group by group, so that groups are a few seconds here. Each turn
# begins with some 15 s of contexts, canaries and the device's speed: turns are minutes.
: "${rounds:=$((seconds < 1200 ? 1 : seconds / 600))}"
deadline=$((SECONDS + seconds))  # building counts too
out=$(realpath -m "${OUT:-build/out}")
build=build/measure
raw=$build/records
mkdir -p "$out" "$raw"

build_worker() {
  configure=(-DCMAKE_BUILD_TYPE=Release -DCOBRA_GRPC=OFF -DCOBRA_TESTS=OFF)
  if [ -d "$carry/usr" ]; then
    prefix=$(realpath "$carry")/usr
    libraries=$(dirname "$prefix"/lib/*/libcrypto.a)
    configure+=("-DCMAKE_PREFIX_PATH=$prefix" "-DOPENSSL_INCLUDE_DIR=$prefix/include" "-DOPENSSL_CRYPTO_LIBRARY=$libraries/libcrypto.a"
      "-DOPENSSL_SSL_LIBRARY=$libraries/libssl.a")
  fi
  # An installed Python package; without one, CMake looks for the system's LibTorch.
  if torch=$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__), *torch.__version__.split("+")[0].split(".")[:2])' 2>/dev/null); then
    read -r torch_dir major minor <<<"$torch"
    configure+=("-DCOBRA_TORCH_DIR=$torch_dir")
    # Its headers ask for C++20 some day after 2.9, and all from 2.1 on may be compiled as such.
    [ "$((major * 100 + minor))" -lt 210 ] || configure+=(-DCMAKE_CXX_STANDARD=20)
  fi
  command -v ninja >/dev/null && configure+=(-G Ninja)
  cmake -S . -B "$build" -Wno-dev "${configure[@]}" >"$build.configure.log" || { cat "$build.configure.log" >&2; exit 1; }
  cmake --build "$build" --target cobra-worker --parallel "$(nproc)" >"$build.build.log" || { tail -50 "$build.build.log" >&2; exit 1; }
  worker=$build/bin/cobra-worker
  echo "measure-gpu: built in $SECONDS s" >&2
}
[ -n "$worker" ] || build_worker

if [ -n "$resume" ]; then
  for part in "$resume"/records-*.jsonl*.gz; do
    name=$(basename "$part")
    gunzip -c "$part" >>"$raw/${name%%.jsonl*}.jsonl"
  done
fi

pack() {  # parts below 16 MB; whole lines
  for file in "$raw"/records-*.jsonl; do
    [ -s "$file" ] || continue
    rm -f "$out/$(basename "$file")".*.gz
    split -C 100m -d --filter='gzip -9 >"$FILE.gz"' "$file" "$out/$(basename "$file")."
  done
}
trap pack EXIT

IFS=, read -ra list <<<"$precisions"
"$worker" describe --device "$device" --precision "${list[0]}" | tee "$out/describe.json" >&2 || true
for ((round = 0; round < rounds; ++round)); do
  for ((i = 0; i < ${#list[@]}; ++i)); do
    turns=$(((rounds - round) * ${#list[@]} - i))
    slice=$(((deadline - SECONDS) / turns))
    [ "$slice" -ge 10 ] || { echo "measure-gpu: the budget is spent" >&2; exit 0; }
    echo "measure-gpu: ${list[i]}, $slice s" >&2
    "$worker" measure --device "$device" --precision "${list[i]}" --space "$spaces" --count "$counts" --budget "${slice}s" --seed "$seed" --group 150 \
      --out "$raw/records-${list[i]}.jsonl" || echo "measure-gpu: ${list[i]}: cobra-worker ended with $?" >&2
  done
done
