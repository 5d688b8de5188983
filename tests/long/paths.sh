#!/usr/bin/env bash
# The ways to a first answer, each in a bare Debian 12 of its own (debootstrap's minbase), with the
# commands that the documents print: in the terminal, from Python, in CI, in a search with Optuna.
# Ends with seconds, on the clock and of processors, which other programs on the machine change
# less. The package and the wheel are there already: they are what one downloads.
#   tests/long/paths.sh [PATH ...]     terminal, python, ci, optuna (all of them by default); as
#                                      root; needs debootstrap, and pip that reaches PyPI
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/long/bare_root.sh
paths=("$@")
[ ${#paths[@]} -gt 0 ] || paths=(terminal python ci optuna)
seconds=()

# document FILE LANGUAGE TEXT: the block of code of a document that has the text.
document() {
  /usr/bin/python3 - "$@" <<'PYTHON'
import re, sys
file, language, text = sys.argv[1:]
blocks = re.findall(r"^```(\w*)\n(.*?)^```", open(file, encoding="utf-8").read(), flags=re.M | re.S)
(found,) = [block for kind, block in blocks if kind == language and text in block]
print(found, end="")
PYTHON
}

clock() { date +%s; }
processors() { awk '{print int(($16 + $17) / 100)}' "/proc/$$/stat"; } # of what has ended

# A new root with the package, and besides packages of Debian; the watch runs from the first
# command.
install() { # PATH [PACKAGE ...]
  make_root "$work/$1"
  cp "$work"/packages/cobra_*.deb "$root/tmp/"
  begin=$(clock) used=$(processors)
  quietly "$work/update.log" inside apt-get update
  quietly "$work/install.log" inside sh -c "apt-get install -y /tmp/cobra_*.deb ${*:2}"
  installed="$(($(clock) - begin)) s on the clock ($(($(processors) - used)) s of processors)"
  new_user
}

# An environment beside Debian's PyTorch, which the package recommends.
environment() { # EXTRA [PACKAGE ...]
  mkdir -p "$root/home/ada/build/python"
  cp "$work"/packages/*.whl "$root/home/ada/build/python/"
  carry_pip_settings
  as_user python3 -m venv --system-site-packages env
  quietly "$work/pip.log" as_user sh -c "env/bin/pip install \"\$(ls build/python/*.whl)$1\" ${*:2}"
}

answered() { # PATH
  seconds+=("$1: $(($(clock) - begin)) s on the clock ($(($(processors) - used)) s of processors) to the first answer, of which apt took $installed")
  leave
  rm -rf --one-file-system "${work:?}/$1"
}

run_terminal() {
  install terminal
  cp examples/convnet.py "$root/home/ada/"
  as_user cobra-client predict convnet.py --entry "ConvNet(ConvNetConfig.named('s'))" --input 1x3x192x192 --target cpu-epyc-genoa-1t
  answered terminal
}

run_python() {
  install python python3-venv
  environment ""
  document docs/python.md python "torchvision.models.resnet18" >"$root/home/ada/first.py"
  as_user env/bin/python first.py | tee "$work/answer"
  grep -q '^cpu-epyc-turin-1t .*1.00$' "$work/answer"
  answered python
}

run_ci() {
  local status=0
  install ci git
  cp -r examples/ci "$root/home/ada/ci"
  { echo 'git config --global user.name Ada && git config --global user.email ada@example.org && cd ci'; document examples/ci/README.md bash "git init"; } >"$root/home/ada/try.sh"
  inside chown -R ada: /home/ada
  as_user bash -e try.sh | tee "$work/answer" || status=$?
  [ "$status" -eq 1 ] || { echo "paths: check ended with $status, not with 1 for a regression" >&2; return 1; }
  grep -q '^classifier .*slower than the 5 % allowed' "$work/answer"
  grep -q 'layers.py:' "$work/answer"
  answered ci
}

run_optuna() {
  install optuna python3-venv
  environment "[optuna]" "$(document docs/search.md '' first_search.py | sed -n '/\[optuna\]/ { s/.*\[optuna\]" //; s/ *#.*//; p }')"
  cp examples/search/first_search.py "$root/home/ada/"
  as_user env/bin/python first_search.py | tee "$work/answer"
  grep -q '^30 trials, [0-9]* not trained' "$work/answer"
  grep -q '% right in ' "$work/answer"
  answered optuna
}

quietly "$work/build.log" scripts/build-package.sh "$work/packages"
for path in "${paths[@]}"; do
  echo "== $path"
  "run_$path"
done
echo "== load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
printf '%s\n' "${seconds[@]}"
