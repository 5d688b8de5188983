#!/usr/bin/env python3
"""Server and worker are killed 200 times during 2,000 short tasks, on SQLite and on PostgreSQL:
every task ends exactly once, no record is lost or doubled.

    kill_queue.py [--tasks 2000] [--kills 200] [--seed 1]        COBRA_BIN: where the programs are
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import programs  # noqa: E402
import queue_run  # noqa: E402


def run(name, options, postgres=None):
    folder = tempfile.mkdtemp()
    start = time.time()
    try:
        states, measurements, different, servers, workers = queue_run.run_with_kills(
            folder,
            options.tasks,
            options.kills,
            postgres,
            options.seed,
            say=lambda text: print(f"{name}: {text}", file=sys.stderr),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    passed = (
        states == {"done": options.tasks}
        and measurements == different == options.tasks
        and servers + workers >= options.kills
    )
    print(
        f"{name}: {options.tasks} tasks, server killed {servers} times, worker {workers} times, {time.time() - start:.0f} s: states {states}, "
        f"{measurements} records of {different} tasks: {'passed' if passed else 'FAILED'}",
        flush=True,
    )
    return passed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    passed = run("SQLite", options)
    with programs.Postgres() as postgres:
        passed = run("PostgreSQL", options, postgres) and passed
    sys.exit(0 if passed else 1)


main()
