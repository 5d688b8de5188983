#!/usr/bin/env bash
# Measures everything that a target's folder holds, in parts that can be interrupted and resumed.
#   campaign.sh [--worker build/release/bin/cobra-worker] OUT.jsonl PART [options of cobra-worker
#   measure: --budget 40m --core 0 --seed 7 ...]
#     layers      6,000 paper-layers, 35,000 real-layers
#     networks    1,200 paper-networks, 470 real-networks
#     spaces      1,000 nas-bench-201, 250 of each of PerfSAGE's four spaces, torchvision (318)
#     all         the three, interleaved
# Within a part the spaces are shuffled and interleaved, so that a run that is cut leaves each in
# proportion; the same command goes on where it was cut (OUT.jsonl is appended to; --budget counts
# anew). One core, nothing else on it. Seconds on one core of an EPYC (Genoa), estimated from the
# multiply- accumulates at 60 GFLOP/s (two per multiply-accumulate) and the rules of a series
# (warm-up, at least 5 to 10 runs, 6 passes more):
#     layers 41,000 x 0.1 s = 70 min; networks 1,670 x 1.2 s = 35 min; spaces: nas-bench-201 1,000 x
#     0.45 s, cifar10 and kws 500 x 0.4 s,
#     vit 250 x 1.1 s, imagenet 250 x 1.8 s, torchvision 230 x 3 s and 88 large ones x 10 s,
#     canaries 100 s = 50 min
set -euo pipefail
usage() { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$(realpath "$(dirname "$0")/../..") worker=
[ "${1:-}" = "--worker" ] && [ $# -ge 2 ] && { worker=$(realpath "$2"); shift 2; }
[ $# -ge 2 ] || usage
out=$(realpath -m "$1") part=$2
shift 2
cd "$root"
layers=paper-layers,real-layers layer_counts=6000,35000
networks=paper-networks,real-networks network_counts=1200,470
spaces=nas-bench-201,perfsage-cnn-cifar10,perfsage-cnn-imagenet,perfsage-cnn-kws,perfsage-vit-cifar100,torchvision space_counts=1000,250,250,250,250,318
case $part in
  layers) space=$layers count=$layer_counts ;;
  networks) space=$networks count=$network_counts ;;
  spaces) space=$spaces count=$space_counts ;;
  all) space=$layers,$networks,$spaces count=$layer_counts,$network_counts,$space_counts ;;
  *) usage ;;
esac
exec "${worker:-build/release/bin/cobra-worker}" measure --space "$space" --count "$count" --out "$out" "$@"
