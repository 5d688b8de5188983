#!/usr/bin/env bash
# What is too long for scripts/test.sh. Each step's output is kept in build/long-tests/STEP.txt, its
# result in a row of docs/long-tests.md.
#   scripts/test-long.sh [--resume] [STEP ...]      all steps by default; quickstart, images,
#                                                   package and paths need root
#     quickstart     the README's first command on a bare Debian 12, twice
#     images         the container image, of what scripts/build-portable.sh has built (root, buildah)
#     package        the Debian package and the wheel, installed and used in a bare Debian 12 (root)
#     paths          the ways to a first answer, each in a bare Debian 12 of its own, with seconds:
#                    terminal, Python, CI, Optuna (root, pip)
#     roots          the portable archive and the wheel in roots of other distributions, on an old
#                    kernel and processor; the GitHub Action and the GitLab component in those of
#                    Debian; seconds to the first answers, and beside the ordinary build (root, pip)
#     aarch64        the portable programs for aarch64, compiled across: tests in qemu's user mode,
#                    then on Debian's kernels with pages of 4 and 16 KiB in an emulated machine; the
#                    answers are those of x86-64, byte for byte
#     asan tsan      all tests under the sanitizers; a run that was cut, or has failed, goes on with
#                    the tests that have not passed
#     tidy           clang-tidy over every source; a second run takes what has changed or was not
#                    clean
#     odr            the programs linked with -flto: two definitions of one name that differ are an
#                    error
#     torchvision    every model of python3-torchvision against real PyTorch
#     timm transformers diffusers   every model of a library from PyPI against real PyTorch 2.13
#                                   (scripts/setup.sh --pypi); goes on where it was cut
#     libraries      models of sixty libraries from PyPI (tests/long/libraries.txt) against real
#                    PyTorch 2.13; installs them (pip, 0.4 GB)
#     transformers-releases   ten releases of transformers from 4.40 on, thirty models each in up to
#                             three forms, against what PyTorch 2.13 runs for that release
#                    (scripts/setup.sh --pypi; pip; goes on where it was cut)
#     numpy          names of NumPy that those libraries use, each compared with NumPy or listed
#                    with the reason why not
#     python-live    live modules of torchvision (PyTorch 1.13) and timm (2.13, from PyPI) taken by
#                    the Python package, against their sources read by the server: fingerprints,
#                    calls, milliseconds
#     same-figures   `graph`, `predict`, `explain` and live modules say the same calls,
#                    multiply-accumulates, operations, peak memory and milliseconds: every model of
#                    torchvision (both versions) and 200 of timm
#     python-search  the Python package and Optuna in a fresh environment (needs pip), and the
#                    searches of examples/search: minutes to the first answers
#     releases       cobra-client diff over the last releases of timm and torchvision (from PyPI):
#                    which changed a graph, against what PyTorch 1.13 runs
#     onnx           the newest onnx package's cases, ONNX Runtime's own operators, exports of
#                    PyTorch 2.13 and what ONNX Runtime makes of them: graphs and results
#                    (scripts/setup.sh --pypi)
#     ncnn-out       networks written for ncnn: ncnn against LibTorch on the same numbers
#                    (scripts/setup.sh --runtimes)
#     onnx-out       networks written as ONNX models: ONNX Runtime against LibTorch on the same
#                    numbers (scripts/setup.sh --pypi)
#     python-out     networks written as PyTorch programs: PyTorch 1.13 and 2.13 against LibTorch
#                    (scripts/setup.sh --runtimes)
#     ncnn           ncnn's published networks and 2,000 random layers (CASES): the shape of every
#                    blob, and values, against ncnn itself from PyPI
#     torch          a thousand random calls of every torch function against real PyTorch
#     composites     a thousand random calls of each family of composite functions over all their
#                    arguments, against PyTorch 1.13 and 2.13 (scripts/setup.sh --pypi)
#     differential   100,000 random programs, ours against CPython (PROGRAMS)
#     mutation       10,000 damaged source files: accepted or rejected as CPython does (MUTATIONS)
#     python         differential and mutation
#     hostile        every hostile program, file and native function, with its processor time and
#                    memory
#     fuzz           each fuzzer for 30 minutes (FUZZ_SECONDS), FUZZ_JOBS at a time (1); fuzz-NAME
#                    for one of them; one input may take FUZZ_TIMEOUT s of wall time (10; more where
#                    the machine is shared). FUZZ_EXECUTIONS: no more than so many in all runs
#                    together
#     weights        bytes of weights and manifest damaged 10,000 times (FLIPS) while a server
#                    serves them
#     soak           an hour (MINUTES) of requests, damaged ones, dying clients, reloads and a
#                    database that restarts; leave the machine alone meanwhile
#     attacked       what a caller notices while another one attacks: latencies of warm requests,
#                    the server's memory; leave the machine alone meanwhile
#     framing-compressed framing-half-open   random HTTP/2 before any role, for ten minutes each
#                    (FRAMING_SECONDS): compressed messages; calls that do not go on. The server's
#                    memory, and another caller's answers
#     queue          2,000 tasks while server and worker are killed 200 times, on SQLite and
#                    PostgreSQL
#     faults         the queue's faults, as long as they are in life: the network cut for a minute,
#                    PostgreSQL away for a minute, full disks (root only)
#     replicas       four servers on one PostgreSQL behind haproxy and round robin, reloaded and
#                    restarted one after the other
#     capacity       what a request, a cached layer and a stored prediction cost (docs/capacity.md)
#     agreement      cobra-worker against python3-torch timed by torch.utils.benchmark: 40 layers,
#                    22 networks; leave the machine alone for twenty minutes
#     clocks         cobra-worker in each runtime against torch.utils.benchmark, a session.run loop,
#                    benchmark_app and benchncnn's way: 30 networks each (scripts/setup.sh
#                    --runtimes); leave the machine alone for half an hour
#     edits          what the predictor can tell apart: 150 pairs of networks with one small edit,
#                    in turns; leave the machine alone for twelve minutes
#     ncnn-servers   ncnn's own benchmark networks measured here, against what others published of
#                    x86 servers: the ratios between the networks (scripts/setup.sh --runtimes);
#                    leave the machine alone for five minutes
#     other-machine  what the shipped weights are worth on this machine after a minute of
#                    calibration: torchvision's networks measured for MINUTES (15), predicted,
#                    compared; leave the machine alone meanwhile
#     noisy-machine  predictions after a calibration beside a neighbour that comes and goes on the
#                    same core, and without it: 40 networks, three seeds; leave the machine alone
#                    for half an hour
#     bench          cobra-bench reader; leave the machine alone meanwhile
# --resume leaves out what build/long-tests/ says has passed at this very commit. A step that fails
# does not stop the others.
set -uo pipefail
cd "$(dirname "$0")/.."
resume=false
[ "${1:-}" = "--resume" ] && { resume=true; shift; }
fuzzers=(source graph onnx tflite ncnn arch file message http)
all=(quickstart images package paths roots aarch64 asan tsan tidy odr torchvision timm transformers diffusers libraries numpy python-live same-figures python-search releases onnx onnx-out python-out ncnn ncnn-out torch composites differential mutation hostile "${fuzzers[@]/#/fuzz-}" weights soak attacked framing-compressed framing-half-open queue faults replicas capacity agreement clocks edits ncnn-servers other-machine noisy-machine bench)
steps=()
for step in "$@"; do
  case $step in
    fuzz) steps+=("${fuzzers[@]/#/fuzz-}") ;;
    python) steps+=(mutation differential) ;;
    *)
      [[ " ${all[*]} " == *" $step "* ]] || { echo "test-long: $step: unknown; known are ${all[*]}" >&2; exit 2; }
      steps+=("$step")
      ;;
  esac
done
[ ${#steps[@]} -gt 0 ] || steps=("${all[@]}")
export OMP_NUM_THREADS=1
exec 3>&2

build() {  # PRESET [TARGET...]
  { scripts/setup.sh --tests && env -u OMP_NUM_THREADS scripts/build.sh "$@"; } >&3 2>&3  # not in the record
}

# Which tests have passed is kept in build/PRESET/passed-tests, below the state of the tree that
# they passed at.
run_sanitizer() {
  local preset=$1 passed=build/$1/passed-tests tree exclude status run=()
  build "$preset" || return 1
  tree=$({ git rev-parse HEAD && git diff HEAD -- ':!docs'; } | sha256sum)
  [ "$(head -n 1 "$passed" 2>/dev/null)" = "$tree" ] || echo "$tree" >"$passed"
  exclude=$(tail -n +2 "$passed" | paste -sd '|')
  [ -z "$exclude" ] || echo "$(($(wc -l <"$passed") - 1)) tests have passed at this state already"
  if [ "$preset" = tsan ]; then
    # ThreadSanitizer of g++ 12 does not start where the kernel spreads addresses wider than it
    # knows.
    setarch -R true 2>/dev/null && run=(setarch -R)
    g++ -std=c++17 -O1 -shared -fPIC -I. tests/tsan/*.cc -o build/tsan/libordered.so -ldl || return 1
    run+=(env "LD_PRELOAD=$PWD/build/tsan/libordered.so" TSAN_OPTIONS=ignore_noninstrumented_modules=1)
    # One process with one thread, that grows beyond 12 GB.
    exclude=torch_support_test${exclude:+|$exclude}
  fi
  "${run[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=ignore --parallel "$(nproc --all)" -LE 'torch|e2e' ${exclude:+-E "^($exclude)\$"} |
    tee >(sed -unE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) \.+ *(Passed|\*+Skipped) .*/\1/p' >>"$passed")
  status=${PIPESTATUS[0]}
  [ "$status" -ne 0 ] || rm -f "$passed"
  return "$status"
}

# First two definitions of a name that differ, to see that they are found.
run_odr() {
  local work status
  work=$(mktemp -d)
  echo 'struct Call { int a; virtual ~Call() {} }; int F(Call* c) { return c->a; } int G(); int main() { return G(); }' >"$work/a.cc"
  echo 'struct Call { double b[2]; virtual ~Call() {} }; int F(Call* c); int G() { Call c; return F(&c); }' >"$work/b.cc"
  (cd "$work" && g++ -O1 -flto -Werror=odr -Werror=lto-type-mismatch a.cc b.cc -o planted) >"$work/log" 2>&1
  status=$?
  grep -o 'error: .*' "$work/log"
  rm -rf "$work"
  [ "$status" -ne 0 ] || { echo "two definitions of one name were linked without an error"; return 1; }
  { scripts/setup.sh --tests && env -u OMP_NUM_THREADS scripts/build.sh lto; }
}

run_quickstart() {
  local root status
  root=$(mktemp -d)
  tests/long/bare_debian.sh quickstart "$root" && tests/long/bare_debian.sh quickstart "$root"
  status=$?
  rm -rf --one-file-system "$root"
  return $status
}

# What the fuzzer finds stays in build/fuzz/NAME.found/, what it learns in build/fuzz/NAME.corpus/;
# a second run goes on from there, also on another machine: what is worth keeping goes into
# tests/fuzz/corpus, and tests/fuzz/runs.csv counts what all runs have executed.
# An input of a model has ten thousand features: weighing them takes more time than running it
# (-entropic=0). Of an allocation one frame is noted, and what was freed stays for 16 MB:
# build/fuzz/bin/NAME_fuzz INPUT without options says where a fault's memory came from.
run_fuzzer() {
  local work=build/fuzz/$1.corpus found=build/fuzz/$1.found/ runs=tests/fuzz/runs.csv options=(-entropic=0 -reload=0) before output status executed
  mkdir -p "$work" "$found"
  tar -xzf "tests/fuzz/corpus/$1.tar.gz" -C "$work"
  [ -e "$runs" ] || echo "fuzzer,date,commit,executed,per_second,faults" >"$runs"
  before=$(awk -F, -v name="$1" '$1 == name { sum += $4 } END { printf "%d", sum }' "$runs")
  if [ -n "${FUZZ_EXECUTIONS:-}" ]; then
    [ "$before" -lt "$FUZZ_EXECUTIONS" ] || { echo "$1: $before executed in all runs already"; return 0; }
    options+=("-runs=$((FUZZ_EXECUTIONS - before))")
  fi
  [ -f "tests/fuzz/$1.dict" ] && options+=("-dict=tests/fuzz/$1.dict")
  output=$(mktemp)
  ASAN_OPTIONS=malloc_context_size=1:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS} \
    "build/fuzz/bin/$1_fuzz" "${options[@]}" -max_total_time="${FUZZ_SECONDS:-1800}" -max_len=4096 -timeout="${FUZZ_TIMEOUT:-10}" -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$found" "$work" 2>&1 | tail -n 40 | tee "$output"
  status=${PIPESTATUS[0]}
  # A run that was cut has reported how far it was when it last learned something.
  executed=$(sed -nE 's/^(stat::number_of_executed_units: *|#)([0-9]+).*/\2/p' "$output" | tail -n 1)
  echo "$1,$(date -u +%F),$commit,${executed:-0},$(sed -nE 's/^stat::average_exec_per_sec: *//p' "$output"),$(find "$found" -type f | wc -l)" >>"$runs"
  echo "$1: $((before + ${executed:-0})) executed in all runs"
  rm -f "$output"
  [ "$status" -ne 0 ] || /usr/bin/python3 tests/fuzz/keep_corpus.py "build/fuzz/bin/$1_fuzz" "$work" "tests/fuzz/corpus/$1.tar.gz"
  return "$status"
}

# A graph that is what PyTorch ran when the rows were written is not run again (timm: hours).
run_library() {
  local rows=tests/frontend/python/libraries/$1.csv
  [ ! -e "$rows.xz" ] || rows=$rows.xz
  { scripts/setup.sh --pypi && build release read_model; } >&3 2>&3 &&
    /usr/bin/python3 tests/frontend/python/libraries/suite.py "$1" --digests "$rows" --write "$rows"
}

# Results within the tolerance of ONNX, or a part of an output's largest value; integers of 8 bits
# may be off by one, for scales are multiplied in another order.
run_onnx() {
  local cases=build/onnx-cases status=0
  local python=(env "PYTHONPATH=$PWD/build/pypi-onnx" build/pypi/bin/python3) compare=(build/release/bin/onnx_conformance --verbose --may-refuse)
  { scripts/setup.sh --pypi && build release onnx_conformance cobra-client; } >&3 2>&3 || return 1
  rm -rf "$cases"
  "${python[@]}" tests/frontend/onnx/pypi/node_cases.py "$cases/node" || status=1
  "${compare[@]}" --tolerance 1e-6 "$cases" node=1500 || status=1
  "${python[@]}" tests/frontend/onnx/pypi/microsoft_cases.py "$cases/microsoft" || status=1
  "${compare[@]}" --tolerance 1e-5 --rounding 1 "$cases" microsoft=150 || status=1
  COBRA_BIN=build/release/bin "${python[@]}" tests/frontend/onnx/pypi/exported_models.py "$cases" || status=1
  "${compare[@]}" --tolerance 1e-4 "$cases" exported optimised || status=1
  return $status
}

run_ncnn() {
  { scripts/setup.sh --pypi && build release ncnn_graph; } >&3 2>&3 &&
    COBRA_BIN=build/release/bin build/pypi/bin/python tests/frontend/ncnn/judge.py --cases "${CASES:-2000}"
}

run_torch() {
  local seed
  for seed in 2 3 4 5; do
    /usr/bin/python3 tests/frontend/python/torch/torch_support_test.py --cases 250 --seed "$seed" || return 1
  done
}

run_composites() {
  { scripts/setup.sh --pypi && build release eval_torch; } >&3 2>&3 &&
    COBRA_BIN=build/release/bin /usr/bin/python3 tests/frontend/python/torch/composites_test.py --cases 1000 --torch both --write tests/frontend/python/torch/composites.csv
}

run_hostile() {
  COBRA_BIN=build/release/bin /usr/bin/python3 tests/hostile/hostile_test.py --all --jobs 1 --slowest 20 &&
    COBRA_BIN=build/release/bin /usr/bin/python3 tests/hostile/battery.py --all --jobs 1 --slowest 20 &&
    COBRA_BIN=build/release/bin /usr/bin/python3 tests/hostile/data_files_test.py --all
}

run_same_figures() {
  local test=tests/long/same_figures.py status=0
  COBRA_BIN=build/release/bin /usr/bin/python3 $test torchvision || status=1
  COBRA_BIN=build/release/bin PYTHONPATH=build/pypi-client build/pypi/bin/python3 $test torchvision || status=1
  COBRA_BIN=build/release/bin PYTHONPATH=build/pypi-client build/pypi/bin/python3 $test timm || status=1
  return $status
}

# A second run goes on measuring where the first one ended.
run_other_machine() {
  env -u OMP_NUM_THREADS build/release/bin/cobra-worker measure --space torchvision --count 318 --budget "${MINUTES:-15}m" --core 0 --out build/other-machine.jsonl >&3 2>&3 &&
    COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/other_machine.py build/other-machine.jsonl
}

# The archive, the wheel and the ordinary programs are of one state of the tree.
run_roots() {
  local archive test status=0 python=(env COBRA_BIN=build/release/bin /usr/bin/python3)
  { scripts/portable-roots.sh && archive=$(scripts/build-portable.sh) && scripts/build-python.sh --portable "$archive" build/portable &&
    build release cobra-bench cobra-client cobra-server cobra-reader; } >&3 2>&3 || return 1
  for test in roots names trust hard_places; do "${python[@]}" "tests/portable/${test}_test.py" 2>&1 || status=1; done
  for test in build/portable/roots/debian-*[0-9]; do COBRA_TEST_ROOT=$test "${python[@]}" tests/e2e/ci_action_test.py InstalledTest 2>&1 || status=1; done
  for test in old_machine first_answers "speed --serve"; do "${python[@]}" tests/portable/${test/ /.py } || status=1; done
  return $status
}

run_step() {
  case $1 in
    quickstart) run_quickstart ;;
    images) /usr/bin/python3 tests/portable/images_test.py ;;
    package) tests/long/package.sh ;;
    paths) tests/long/paths.sh ;;
    roots) run_roots ;;
    aarch64) tests/long/aarch64.sh ;;
    asan | tsan) run_sanitizer "$1" ;;
    tidy) build release && env -u OMP_NUM_THREADS /usr/bin/python3 tests/long/tidy.py build/release ;;
    odr) run_odr ;;
    torchvision) build release && /usr/bin/python3 tests/frontend/python/torch/torchvision_suite.py --write docs/torchvision_models.md \
      && /usr/bin/python3 tests/frontend/python/torch/torchvision_suite.py --train ;;
    timm | transformers | diffusers) run_library "$1" ;;
    libraries) { scripts/setup.sh --pypi && build release cobra-client; } >&3 2>&3 && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/libraries.py --install ;;
    transformers-releases) { scripts/setup.sh --pypi && build release read_model; } >&3 2>&3 && build/pypi/bin/python3 tests/long/transformers_releases.py --write build/transformers-releases.csv ;;
    numpy) scripts/setup.sh --pypi >&3 2>&3 && build release read_model && /usr/bin/python3 tests/frontend/python/torch/numpy_test.py &&
      /usr/bin/python3 tests/frontend/python/libraries/numpy_names.py --write tests/frontend/python/torch/numpy_names.csv ;;
    python-live) { scripts/setup.sh --pypi && build release; } >&3 2>&3 && COBRA_BIN=build/release/bin /usr/bin/python3 client/python/tests/compare_all.py torchvision &&
      COBRA_BIN=build/release/bin PYTHONPATH=build/pypi-client build/pypi/bin/python client/python/tests/compare_all.py timm ;;
    same-figures) { scripts/setup.sh --pypi && build release; } >&3 2>&3 && run_same_figures ;;
    python-search) build release cobra-server && tests/long/python_search.sh ;;
    releases) build release cobra-server cobra-client cobra-reader && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/releases.py ;;
    onnx) run_onnx ;;
    onnx-out) { scripts/setup.sh --pypi && build release export_network cobra-client; } >&3 2>&3 && COBRA_BIN=build/release/bin /usr/bin/python3 tests/export/onnx_runtime_test.py --long ;;
    python-out) { scripts/setup.sh --runtimes && build release export_network cobra-client; } >&3 2>&3 && COBRA_BIN=build/release/bin /usr/bin/python3 tests/export/program_test.py --long ;;
    ncnn) run_ncnn ;;
    ncnn-out) { scripts/setup.sh --runtimes && build release export_network cobra-client; } >&3 2>&3 && COBRA_BIN=build/release/bin /usr/bin/python3 tests/export/ncnn_run_test.py --long ;;
    torch) build release && run_torch ;;
    composites) run_composites ;;
    differential) build release python_run && COBRA_BIN=build/release/bin nice /usr/bin/python3 -W ignore tests/frontend/python/runtime/differential_test.py --programs "${PROGRAMS:-100000}" --state build/differential.json ;;
    mutation) build release python_ast_dump && COBRA_BIN=build/release/bin nice /usr/bin/python3 tests/frontend/python/syntax/mutation_check.py --count "${MUTATIONS:-10000}" --seed 2 --messages ;;
    hostile) build release cobra-client cobra-server cobra-reader && run_hostile ;;
    fuzz-*) run_fuzzer "${1#fuzz-}" ;;  # run_fuzzers has built it
    weights) build release cobra-server cobra-client && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/damaged_weights.py --flips "${FLIPS:-10000}" ;;
    soak) build release cobra-server cobra-client cobra-reader && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/soak.py --minutes "${MINUTES:-60}" ;;
    attacked) build release cobra-server cobra-client cobra-reader && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/attacked.py ;;
    framing-*)
      build release cobra-server cobra-reader &&
        COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/framing.py "${1#framing-}" --seconds "${FRAMING_SECONDS:-600}"
      ;;
    queue) build release cobra-server cobra-worker cobra-client && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/kill_queue.py ;;
    faults) build release cobra-server cobra-worker cobra-client && COBRA_BIN=build/release/bin /usr/bin/python3 tests/e2e/queue_faults_test.py --long ;;
    replicas) build release cobra-server cobra-client cobra-reader && COBRA_BIN=build/release/bin /usr/bin/python3 tests/e2e/replicas_test.py --long ;;
    capacity) build release cobra-server cobra-client cobra-reader && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/capacity.py ;;
    agreement) build release cobra-worker cobra-client && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/agreement.py ;;
    clocks) { scripts/setup.sh --runtimes && build release cobra-worker cobra-client; } >&3 2>&3 && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/clocks.py ;;
    edits) build release cobra-worker cobra-client cobra-server cobra-reader && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/small_edits.py ;;
    ncnn-servers) { scripts/setup.sh --runtimes && build release cobra-worker cobra-client; } >&3 2>&3 && /usr/bin/python3 tests/long/ncnn_servers.py ;;
    other-machine) build release cobra-server cobra-client cobra-worker && run_other_machine ;;
    noisy-machine) build release cobra-server cobra-client cobra-worker && COBRA_BIN=build/release/bin /usr/bin/python3 tests/long/noisy_machine.py ;;
    bench) build release && build/release/bin/cobra-bench reader --json ;;
  esac
}

mkdir -p build/long-tests
commit=$(git rev-parse --short HEAD 2>/dev/null || echo "not a repository")
[ -z "$(git status --porcelain --untracked-files=no -- ':!docs' 2>/dev/null)" ] || commit="$commit with changes"
machine="$(nproc --all) cores, $(grep -m1 'model name' /proc/cpuinfo | sed 's/.*: //'), $(awk '/MemTotal/ {printf "%.0f GB", $2 / 1048576}' /proc/meminfo)"
failed=()

# The row of a step in docs/long-tests.md: a new one takes the place of the last.
note_result() {  # STEP SECONDS RESULT LAST-LINE
  local table=docs/long-tests.md row
  row="| $1 | $(date -u +%Y-%m-%dT%H:%MZ) | $2 | $commit | $machine | $3: $(tr '|' '/' <<<"$4" | cut -c1-160) |"
  {
    flock 9
    { sed -n '/^|---/q;p' "$table"; sed -n '/^|---/p' "$table"; { sed '1,/^|---/d' "$table" | grep -vF "| $1 | "; echo "$row"; } | LC_ALL=C sort; } >"$table.new"
    mv "$table.new" "$table"
  } 9>build/long-tests/.lock
}

# One step, with its record.
run_recorded() {
  local step=$1 record=build/long-tests/$1.txt start output status result
  if $resume && grep -qx "commit: $commit" "$record" 2>/dev/null && grep -qx "result: passed" "$record"; then
    echo "== $step: passed at $commit already"
    return 0
  fi
  echo "== $step"
  start=$(date +%s)
  output=$(mktemp)
  run_step "$step" 2>&1 | tee "$output"
  status=${PIPESTATUS[0]}
  result=passed
  [ "$status" -eq 0 ] || result="failed, exit $status"
  {
    echo "command: scripts/test-long.sh $step"
    echo "date: $(date -u +%Y-%m-%dT%H:%MZ), $(($(date +%s) - start)) s"
    echo "commit: $commit"
    echo "machine: $machine"
    echo "result: $result"
    echo
    # What a build compiles says nothing of its tests.
    grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking|Generating|Running)' "$output" | tail -c 20000 | sed "s|$PWD/||g"
  } >"$record"
  rm -f "$output"
  note_result "$step" "$(($(date +%s) - start)) s" "$result" "$(grep -v '^$' "$record" | tail -n 1)"
  return "$status"
}

# All the fuzzers that were asked for, some at the same time.
run_fuzzers() {
  local step pid
  declare -A running=()
  build fuzz || { failed+=("$@"); return; }
  for step in "$@"; do
    while [ ${#running[@]} -ge "${FUZZ_JOBS:-1}" ]; do
      wait -n -p pid "${!running[@]}" || failed+=("${running[$pid]}")
      unset "running[$pid]"
    done
    run_recorded "$step" &
    running[$!]=$step
  done
  for pid in "${!running[@]}"; do
    wait "$pid" || failed+=("${running[$pid]}")
  done
}

fuzz_steps=()
for step in "${steps[@]}"; do
  case $step in
    fuzz-*) fuzz_steps+=("$step") ;;
    *) run_recorded "$step" || failed+=("$step") ;;
  esac
done
[ ${#fuzz_steps[@]} -eq 0 ] || run_fuzzers "${fuzz_steps[@]}"
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
