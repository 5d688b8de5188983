#!/usr/bin/env bash
# From nothing to the answers of a first search with Optuna: the wheel and its extra in a fresh environment (needs pip), beside Debian's PyTorch, and
# examples/search. Ends with the minutes it took.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -m 700 "$work/run"
export XDG_RUNTIME_DIR=$work/run XDG_STATE_HOME=$work/state PATH=$PWD/build/release/bin:$PATH
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
begin=$SECONDS

wheel=$(scripts/build-python.sh "$work")
/usr/bin/python3 -m venv --system-site-packages "$work/env"
# Known versions, of what pip finds by itself that the extra needs.
"$work/env/bin/pip" install --quiet --disable-pip-version-check --constraint client/python/tests/search_requirements.txt "$wheel[optuna]" scikit-learn
installed=$((SECONDS - begin))
"$work/env/bin/python" examples/search/first_search.py | tee "$work/answer"
grep -q '^30 trials, [0-9]* not trained' "$work/answer"
grep -q ' exceed the budget of ' "$work/answer"
grep -q '% right in ' "$work/answer"
answered=$((SECONDS - begin))
[ "$answered" -lt 300 ] || { echo "python_search: $answered s from nothing to the first answers, more than five minutes" >&2; exit 1; }

"$work/env/bin/python" examples/search/compare.py widths --seconds 8 --seeds 1 --rounds 2 --out "$work/widths.jsonl"
[ "$(grep -c '"guide"' "$work/widths.jsonl")" -eq 3 ]
cp "$work/widths.jsonl" "$work/before"
"$work/env/bin/python" examples/search/compare.py widths --seconds 8 --seeds 1 --rounds 2 --out "$work/widths.jsonl" >/dev/null
cmp "$work/before" "$work/widths.jsonl" # a second run does nothing
echo "installed in $installed s, first answers after $answered s"
