#!/usr/bin/env bash
# What the shipped weights know of their targets: describe_targets.sh BIN OUT.md
# A server of the programs in BIN is asked, which nobody else finds.
set -euo pipefail
bin=$1 out=$2
state=$(mktemp -d)
"$bin/cobra-server" --listen "unix:$state/socket" --metrics "" --store "$state/store.sqlite" --ready-file "$state/ready" 2>"$state/log" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$state"' EXIT
for ((i = 0; i < 600; ++i)); do
  [ ! -e "$state/ready" ] || break
  kill -0 "$server" 2>/dev/null || { cat "$state/log" >&2; exit 1; }
  sleep 0.1
done
"$bin/cobra-client" targets --server "unix:$state/socket" --trained --format markdown >"$out"
