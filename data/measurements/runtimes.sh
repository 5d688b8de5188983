#!/usr/bin/env bash
# Measures the same networks and layers in several runtimes, in turns of some minutes, so that all
# have grown equally whenever it is stopped.
#   runtimes.sh [--worker build/release/bin/cobra-worker] FOLDER BUDGET [--runtimes
#   libtorch,torch,onnxruntime,openvino,ncnn] [--scale 1.0] [options of cobra-worker measure]
#     FOLDER  gets one file for each runtime, RUNTIME-THREADSt.jsonl; the same command goes on where
#             it was stopped
#     BUDGET  minutes in all; a turn is six
#     --scale how many of each space: 1.0 is 318 torchvision, 459 timm, 120 real-networks, 60
#     nas-bench-201, 30 each of two PerfSAGE spaces, 90 paper-networks,
#             900 real-layers and 150 paper-layers
# Networks of more than 9e9 multiply-accumulates are left out (3 s each and more). Needs
# scripts/setup.sh --runtimes. Options go to every run: --core 0 --threads 2 --seed 20261205. To
# pack: pack_records.py --lean FOLDER/torch-1t.jsonl data/measurements/cpu-...-1t-torch, which takes
# target.json from the sessions, too.
set -euo pipefail
usage() { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(realpath "$(dirname "$0")/../..") worker= runtimes=torch,onnxruntime,openvino,ncnn,libtorch scale=1.0
[ "${1:-}" = "--worker" ] && [ $# -ge 2 ] && { worker=$(realpath "$2"); shift 2; }
[ $# -ge 2 ] || usage
folder=$(realpath -m "$1") minutes=$2
shift 2
while [ "${1:-}" = "--runtimes" ] || [ "${1:-}" = "--scale" ]; do
  [ $# -ge 2 ] || usage
  [ "$1" = "--runtimes" ] && runtimes=$2 || scale=$2
  shift 2
done
cd "$root"
worker=${worker:-build/release/bin/cobra-worker}
threads=1 previous=
for option in "$@"; do
  [ "$previous" = "--threads" ] && threads=$option
  previous=$option
done
spaces=torchvision,timm,real-networks,nas-bench-201,perfsage-cnn-imagenet,perfsage-vit-cifar100,paper-networks,real-layers,paper-layers
counts=$(for n in 318 459 120 60 30 30 90 900 150; do awk -v n="$n" -v s="$scale" 'BEGIN { printf "%d\n", n * s + 0.5 }'; done | paste -sd,)
mkdir -p "$folder"
end=$((SECONDS + minutes * 60))
while [ $SECONDS -lt $end ]; do
  for runtime in ${runtimes//,/ }; do
    [ $SECONDS -lt $end ] || break
    runner=()
    [ "$runtime" = libtorch ] || runner=(--runner "$runtime")
    "$worker" measure --space "$spaces" --count "$counts" --network-gmacs 9 --budget 6m --out "$folder/$runtime-${threads}t.jsonl" "${runner[@]}" "$@"
  done
done
