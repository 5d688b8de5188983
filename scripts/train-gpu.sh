#!/usr/bin/env bash
# Trains on a GPU machine what takes a processor days: the folds of tables (lab/tables.md), each
# with its answers, and new weights for all targets. It ends when all is done or when the budget is
# spent, and leaves in OUT, in parts below 16 MB, what a later run goes on from: answers of folds,
# the weights or their checkpoint, and the logs.
#   OUT=out scripts/train-gpu.sh --budget 8m
#   cat out/trained.tar.* | tar -x       # at home: lab/results/*.partial.*, build/weights; the same
#                                        commands on a processor finish both
# Options: --programs FOLDER (of carry-programs.sh, unpacked; default: build/release)  --tables kernels:9,kernelbench:5 (folds of each at a time; without a number one)  --seeds N
#          --first FOLDER (the weights that tables begin with: lab/first_weights.py)  --no-weights  --device cuda|cpu
#          of new weights: --epochs N  --from FOLDER  --learning-rate 3e-3
set -euo pipefail
cd "$(dirname "$0")/.."

budget=8m programs=build/release tables=kernels:9,kernelbench:5 seeds=3 first=build/first weights=1 device=cuda epochs=6 from=model/pretrained rate=3e-3
while [ $# -gt 0 ]; do
  case $1 in
    --budget) budget=$2 ;;
    --programs) programs=$2 ;;
    --tables) tables=$2 ;;
    --seeds) seeds=$2 ;;
    --first) first=$2 ;;
    --device) device=$2 ;;
    --epochs) epochs=$2 ;;
    --from) from=$2 ;;
    --learning-rate) rate=$2 ;;
    --no-weights) weights= && set -- "$1" "$@" ;;
    *) echo "train-gpu: $1: unknown; see the head of $0" >&2; exit 2 ;;
  esac
  shift 2
done
case $budget in
  *s) seconds=${budget%s} ;;
  *m) seconds=$((${budget%m} * 60)) ;;
  *h) seconds=$((${budget%h} * 3600)) ;;
  *) echo "train-gpu: --budget $budget: a number with s, m or h" >&2; exit 2 ;;
esac
out=$(realpath -m "${OUT:-build/out}")
mkdir -p "$out" build/weights build/trained-logs
train=$programs/bin/cobra-train
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

pack() {
  nvidia-smi --query-gpu=name,utilization.gpu,memory.used --format=csv,noheader >build/trained-logs/gpu.txt 2>/dev/null || true
  rm -f "$out"/trained.tar.*
  local files=(build/trained-logs)
  [ -z "$weights" ] || files+=(build/weights)
  for file in lab/results/*.partial.*; do [ ! -e "$file" ] || files+=("$file"); done
  tar -cf - "${files[@]}" | split -b 15m -d - "$out/trained.tar."
}
stop() {
  local running
  running=$(jobs -p)
  [ -z "$running" ] || kill $running 2>/dev/null || true
  pkill -f "$programs/real/cobra-train" 2>/dev/null || true
  [ -z "${CUDA_MPS_PIPE_DIRECTORY:-}" ] || echo quit | nvidia-cuda-mps-control || true
  pack
}
trap stop EXIT

# Many processes, each with small kernels, share a GPU only through this service; without it they
# take turns.
if [ "$device" != cpu ] && command -v nvidia-cuda-mps-control >/dev/null; then
  export CUDA_MPS_PIPE_DIRECTORY=/tmp/cobra-mps CUDA_MPS_LOG_DIRECTORY=/tmp/cobra-mps-log
  mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  nvidia-cuda-mps-control -d && echo "train-gpu: processes share the GPU (MPS)" >&2 || unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
fi

log() { tee "build/trained-logs/$1.log" >&2; }
if [ -n "$weights" ]; then
  rows=()
  for folder in data/measurements/?pu-* data/public/*/?pu-*; do rows+=(--rows "$folder"); done
  timeout "$seconds" "$train" fit "${rows[@]}" --from "$from" --learning-rate "$rate" --epochs "$epochs" --seeds 1 --device "$device" \
    --out build/weights 2>&1 | grep --line-buffered -v "distinct graphs" | log weights &
fi
# Tables that run side by side share versions (lab/tables/run/fold_version.cc); one alone leaves
# processors without work while its last folds are trained.
IFS=, read -ra list <<<"$tables"
for table in "${list[@]}"; do
  [[ $table == *:* ]] || table=$table:1
  timeout "$seconds" "$train" table "${table%:*}" --seeds "$seeds" --model "$first" --jobs "${table#*:}" --device "$device" --parts 2>&1 |
    log "${table%:*}" &
done
wait
