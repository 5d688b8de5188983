#!/usr/bin/env bash
# What the programs say of themselves: describe_programs.sh BIN OUT HELP2MAN PROGRAM...
# Completions in OUT/bash, zsh and fish; from --help a man page of each program and of each of its
# commands in OUT/man, unless HELP2MAN is empty or was not found. OUT/target_cards.md is what the
# shipped weights know of their targets. OUT/complete is written last.
set -euo pipefail
cd "$(dirname "$0")/.." # so that pages are named as in the tree: docs/ci.md
bin=$1 out=$2 help2man=$3
shift 3
rm -rf "$out"
mkdir -p "$out"/{man,bash,zsh,fish}

# page NAME SUMMARY PROGRAM [COMMAND]
page() {
  local name=$1 summary=$2 program=$3 help=--help
  [ $# -lt 4 ] || help="$4 --help"
  [[ -x $help2man ]] || return 0
  "$help2man" --no-info --name "$summary" --help-option="$help" --version-string "$version" \
    --output "$out/man/$name.1" "$bin/$program"
  # A command's page is found under its own name.
  sed -i -e "s/^$program \\\\- /$name \\\\- /" -e "s/^\.TH ${program^^} /.TH ${name^^} /" "$out/man/$name.1"
  gzip -9n "$out/man/$name.1"
}

# Names of commands and what they do: the lines of --help between "Subcommands:" and the next empty
# line.
commands() { "$bin/$1" --help | sed -n '/^Subcommands:/,/^$/ { s/^  \([a-z-]\{1,\}\) *\(.*\)$/\1\t\2/p }'; }

for program in "$@"; do
  version=$("$bin/$program" --version) # asked once: a program with LibTorch takes a second to start
  "$bin/$program" --completion bash >"$out/bash/$program"
  "$bin/$program" --completion zsh >"$out/zsh/_$program"
  "$bin/$program" --completion fish >"$out/fish/$program.fish"
  page "$program" "$("$bin/$program" --help | sed -n 1p)" "$program"
  while IFS=$'\t' read -r command summary; do
    page "$program-$command" "$summary" "$program" "$command"
  done < <(commands "$program")
done
cmake/describe_targets.sh "$bin" "$out/target_cards.md"
touch "$out/complete"
