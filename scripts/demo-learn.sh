#!/usr/bin/env bash
# The learning loop on one machine, in two to three minutes: a network with unknown layers is
# predicted, a worker measures the layers, the model is refitted and evaluated, the server reloads
# it, and the same request gets a better prediction.
#   scripts/demo-learn.sh [--seconds N] [--busy]      N: of training (default 120); --busy: measure
#                                                     although the machine is busy
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=120
worker_flags=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift ;;
    --busy) worker_flags=(--keep-disturbed) ;;
    *) echo "demo-learn: $1: unknown" >&2; exit 2 ;;
  esac
  shift
done

bin=${COBRA_BIN:-build/release/bin}
target=cpu-epyc-genoa-1t  # the trained one; a worker measures under this name whatever this machine is
work=$(mktemp -d)
server_pid=
finish() {
  [ -z "$server_pid" ] || kill -TERM "$server_pid" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
say() { printf '\n== %s (%d s since the start)\n' "$*" "$SECONDS" >&2; }
fail() {
  printf 'demo-learn: %s\n' "$*" >&2
  exit 1
}
field() { sed -nE "s/.*\"$1\": *(-?[0-9][-+.eE0-9]*|true|false).*/\1/p" | head -n 1; }
predict() {
  "$bin/cobra-client" predict scripts/demo/speech.py --entry 'Speech()' --input 1x100x80 --target "$target" --server "$server" --format json >"$1"
}

[ -n "${COBRA_BIN:-}" ] || scripts/build.sh --without-lab release cobra-server cobra-client cobra-worker cobra-train

say "A server with a copy of the shipped weights and an empty store"
cp -r model/pretrained "$work/model"
"$bin/cobra-server" --listen 127.0.0.1:0 --metrics "" --model "$work/model" --store "$work/store.sqlite" --ready-file "$work/ready" &
server_pid=$!
for _ in $(seq 300); do
  [ -e "$work/ready" ] && break
  kill -0 "$server_pid" 2>/dev/null || fail "the server did not start"
  sleep 0.1
done
server=$(sed -nE 's/.*"listen": "([^"]*)".*/\1/p' "$work/ready")

say "Asking about a speech network with an LSTM, which the shipped model has never measured"
predict "$work/before"
"$bin/cobra-client" graph scripts/demo/speech.py --entry 'Speech()' --input 1x100x80 --format json >"$work/graph"
"$bin/cobra-worker" measure --graph "$work/graph" --share-device >"$work/record"

say "A worker measures what the server noted"
"$bin/cobra-worker" work --server "$server" --target "$target" --spool "$work/spool" --until-idle --share-device "${worker_flags[@]}"

say "Refitting for $seconds s, judging, publishing"
"$bin/cobra-train" refit --store "$work/store.sqlite" --model "$work/model" --out "$work/new" --publish "$work/model" --seconds "$seconds" >&2
kill -HUP "$server_pid"
for _ in $(seq 100); do
  predict "$work/after"
  [ "$(field extrapolating <"$work/after")" = false ] && break
  sleep 0.2
done

say "The same question, before and after"
measured=$(field latency_us <"$work/record")
for when in before after; do
  awk -v when="$when" -v us="$(field latency_us <"$work/$when")" -v low="$(field low_us <"$work/$when")" -v high="$(field high_us <"$work/$when")" \
    -v confidence="$(field confidence <"$work/$when")" -v measured="$measured" 'BEGIN {
      printf "%-7s predicted %8.2f ms, 90 %% interval %.2f to %.2f ms, confidence %.2f; measured %.2f ms: off by %.0f %%\n", when, us / 1000, low / 1000,
             high / 1000, confidence, measured / 1000, 100 * (us > measured ? us / measured - 1 : 1 - us / measured)
    }'
done
awk -v before="$(field latency_us <"$work/before")" -v after="$(field latency_us <"$work/after")" -v measured="$measured" \
  -v sure_before="$(field confidence <"$work/before")" -v sure="$(field confidence <"$work/after")" 'BEGIN {
    b = log(before / measured); a = log(after / measured)
    exit !(sure > sure_before && sure >= 0.9 && a * a < b * b)
  }' || fail "the answer is not better"
