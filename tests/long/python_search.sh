#!/usr/bin/env bash
# From nothing to the answers of a first search with Optuna: the wheel and its extra in a fresh
# environment (needs pip), beside Debian's PyTorch, and examples/search. Ends with the time it took:
# on the clock, and of processors, which other programs on the machine do not change.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
finish() {
  [ ! -e "$work/run/cobra/lock" ] || "$work/env/bin/python" -c 'import cobra_latency; cobra_latency.local().stop_server()' || true
  rm -rf "$work"
}
trap finish EXIT
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run XDG_STATE_HOME=$work/state PATH=$PWD/build/release/bin:$PATH
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
begin=$SECONDS
taken() { echo "$((SECONDS - begin)) s on the clock, $(awk '{print int(($16 + $17) / 100)}' "/proc/$$/stat") s of processors"; }

wheel=$(scripts/build-python.sh "$work")
/usr/bin/python3 -m venv --system-site-packages "$work/env"
# Known versions, of what pip finds by itself that the extra needs.
"$work/env/bin/pip" install --quiet --disable-pip-version-check --constraint client/python/tests/search_requirements.txt "$wheel[optuna]" scikit-learn
installed=$(taken)
"$work/env/bin/python" examples/search/first_search.py | tee "$work/answer"
grep -q '^30 trials, [0-9]* not trained' "$work/answer"
grep -q ' exceed the budget of ' "$work/answer"
grep -q '% right in ' "$work/answer"
answered=$(taken)

"$work/env/bin/python" examples/search/compare.py widths --seconds 8 --seeds 1 --rounds 2 --out "$work/widths.jsonl"
[ "$(grep -c '"guide"' "$work/widths.jsonl")" -eq 3 ]
cp "$work/widths.jsonl" "$work/before"
"$work/env/bin/python" examples/search/compare.py widths --seconds 8 --seeds 1 --rounds 2 --out "$work/widths.jsonl" >/dev/null
cmp "$work/before" "$work/widths.jsonl" # a second run does nothing
echo "installed after $installed; first answers after $answered"
