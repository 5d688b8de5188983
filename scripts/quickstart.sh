#!/usr/bin/env bash
# Runs all of COBRA on a bare machine: sets up, builds, starts a server with the shipped weights,
# calibrates it to this machine, predicts unmodified torchvision models from source, runs them,
# prints both; then one of them for GPUs. Stops the server at the end. Exit 0 only if every step
# succeeded.
#   scripts/quickstart.sh        on Debian 12, as root or with sudo
set -euo pipefail
cd "$(dirname "$0")/.."

library=/usr/lib/python3/dist-packages
target=this-machine
# name  file below torchvision/models  expression
models=(
  "ResNet-18    resnet.py       resnet18()"
  "ResNet-50    resnet.py       resnet50()"
  "VGG-16       vgg.py          vgg16()"
  "MobileNetV2  mobilenetv2.py  mobilenet_v2()"
  "DenseNet-121 densenet.py     densenet121()"
)
# For these the shipped weights answer without a calibration; nothing is run there.
gpus=gpu-t4-modal-torch-2.5-eager-train,gpu-l4-modal-torch-2.5-eager-train,gpu-a100-sxm4-40gb-modal-torch-2.5-eager-train
gpus+=,gpu-rtx-3090-amp-float16-torch-2.4,gpu-rtx-5090-amp-float16-torch-2.9

bin=build/release/bin
work=$(mktemp -d)
server_pid=
say() { printf '\n== %s (%d s since the start)\n' "$*" "$SECONDS" >&2; }
fail() {
  printf 'quickstart: %s\n' "$*" >&2
  exit 1
}
stop_server() {
  [ -n "$server_pid" ] || return 0
  kill -TERM "$server_pid" 2>/dev/null || true
  local code=0
  wait "$server_pid" || code=$?
  server_pid=
  return "$code"
}
finish() {
  stop_server || true
  rm -rf "$work"
}
trap finish EXIT

# The first number that JSON text on standard input has under a name.
number() { sed -nE "s/.*\"$1\": *(-?[0-9][-+.eE0-9]*).*/\1/p" | head -n 1; }

say "Installing packages and building (the first time a few minutes, then seconds)"
scripts/build.sh --without-lab release cobra-server cobra-client cobra-worker

say "Starting a server with the shipped weights (model/pretrained) and an empty store"
"$bin/cobra-server" --listen 127.0.0.1:0 --metrics 127.0.0.1:0 --model model/pretrained --store "$work/store.sqlite" \
  --library "$library" --ready-file "$work/ready" &
server_pid=$!
for _ in $(seq 300); do
  [ -e "$work/ready" ] && break
  kill -0 "$server_pid" 2>/dev/null || fail "the server did not start"
  sleep 0.1
done
[ -e "$work/ready" ] || fail "the server was not ready after 30 s"
server=$(sed -nE 's/.*"listen": "([^"]*)".*/\1/p' "$work/ready")

say "Calibrating to this machine: about a minute of measuring small layers"
"$bin/cobra-client" calibrate --server "$server" >&2

say "Predicting unmodified torchvision source, then running each model (batch 1, 3x224x224)"
table=$work/table
for row in "${models[@]}"; do
  read -r name file entry <<<"$row"
  source=("$library/torchvision/models/$file" --library "$library" --entry "$entry" --input 1x3x224x224)
  "$bin/cobra-client" predict "${source[@]}" --target "$target" --server "$server" --format json >"$work/prediction"
  "$bin/cobra-client" graph "${source[@]}" --format json >"$work/graph"
  printf '   %-13s predicted %8.2f ms; running it ...' "$name" "$(number latency_us <"$work/prediction" | awk '{print $1 / 1000}')" >&2
  "$bin/cobra-worker" measure --graph "$work/graph" >"$work/record"
  measured=$(number latency_us <"$work/record")
  grep -qE '"outcome": ?"ok"' "$work/record" && [ -n "$measured" ] || fail "$name could not be run: $(cat "$work/record")"
  awk -v us="$measured" 'BEGIN { printf " %8.2f ms\n", us / 1000 }' >&2
  printf '%s|%s|%s|%s|%s\n' "$name" "$(number latency_us <"$work/prediction")" "$(number low_us <"$work/prediction")" \
    "$(number high_us <"$work/prediction")" "$measured" >>"$table"
done

say "Predicting ResNet-50, batch 64, for GPUs"
"$bin/cobra-client" predict "$library/torchvision/models/resnet.py" --library "$library" --entry "resnet50()" --input 64x3x224x224 \
  --target "$gpus" --server "$server" >"$work/gpus"

say "Stopping the server"
stop_server || fail "the server did not stop cleanly"

printf '\n%-13s %-13s %12s %22s %12s %11s\n' model target "predicted ms" "90 % interval ms" "measured ms" difference
awk -F '|' -v target="$target" '{
  printf "%-13s %-13s %12.2f %22s %12.2f %+9.1f %%\n", $1, target, $2 / 1000,
    sprintf("%.2f ... %.2f", $3 / 1000, $4 / 1000), $5 / 1000, 100 * ($2 - $5) / $5
}' "$table"
[ "$(wc -l <"$table")" -eq "${#models[@]}" ] || fail "not every model was predicted and run"
printf '\nResNet-50, batch 64, on GPUs that others measured (not run here)\n'
awk '/^target .*predicted ms/ { inside = 1 } !NF { inside = 0 } inside' "$work/gpus"
[ "$(grep -c '^gpu-' "$work/gpus")" -ge 5 ] || fail "not every GPU was predicted"
printf '\nDone in %d s. To predict a model of your own, see README.md, "Ask".\n' "$SECONDS"
