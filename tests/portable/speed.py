#!/usr/bin/env python3
"""How the portable programs compare with the ordinary build's in time and memory, both in one run.
Prints a table; asserts nothing.
    tests/portable/speed.py [--rounds 15] [--serve]
With --serve also `cobra-bench serve --beside`, some minutes. Leave the machine alone meanwhile."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import roots

STARTS = {
    "cobra-client --version": ("cobra-client", "--version"),
    "cobra-server --version": ("cobra-server", "--version"),
    "cobra-client --help": ("cobra-client", "--help"),
}


class Side:
    """One build's programs, with a server of their own that runs until the end."""

    def __init__(self, programs, home):
        self.programs, self.home = programs, home
        os.makedirs(os.path.join(home, "run"), mode=0o700)
        self.environment = {"PATH": roots.PATH, "HOME": home, "XDG_RUNTIME_DIR": os.path.join(home, "run")}

    def seconds(self, program, *arguments, cwd):
        began = time.perf_counter()
        command = [os.path.join(self.programs, program), *arguments]
        done = subprocess.run(command, env=self.environment, cwd=cwd, capture_output=True)
        took = time.perf_counter() - began
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr.decode()}")
        return took

    def end(self):
        roots.end_servers(self.environment["XDG_RUNTIME_DIR"])
        roots.wait_for(lambda: not self.servers())

    def servers(self):
        return roots.servers_of(self.environment["XDG_RUNTIME_DIR"])

    def peak_memory_kb(self):
        """Of the server and its readers, from their start on; a page that several have counts in each."""
        return sum(roots.peak_kb(pid) for pid in self.servers())


def compare(name, rounds, sides, measure):
    """In turns, the other side first in every second round."""
    times = ([], [])
    for round_number in range(rounds):
        for i in (0, 1) if round_number % 2 == 0 else (1, 0):
            times[i].append(measure(sides[i]))
    medians = [statistics.median(each) for each in times]
    ratio = statistics.median(theirs / ours for ours, theirs in zip(*times))
    spread = " / ".join(f"{min(each) * 1000:.1f}..{max(each) * 1000:.1f}" for each in times)
    print(f"| {name} | {medians[0] * 1000:.1f} ms | {medians[1] * 1000:.1f} ms | {ratio:.3f} | {spread} |", flush=True)


def cold(side, question, cwd):
    """A first answer, without a server and without a store of earlier answers."""
    side.end()
    subprocess.run(["rm", "-rf", os.path.join(side.home, ".local")], check=True)
    return side.seconds("cobra-client", *question, cwd=cwd)


def serve(programs):
    command = [
        os.path.join(roots.BIN, "cobra-bench"),
        "serve",
        "--json",
        "--beside",
        os.path.join(programs, "cobra-server"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    figures = json.loads(done.stdout)
    print("\ncobra-bench serve, ordinary over portable (requests per second; p50, p99: latencies):")
    for name, value in figures.items():
        if name.endswith("_over_beside"):
            print(f"  {name}: {value:.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--serve", action="store_true", help="cobra-bench serve too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        roots.unpack(folder)
        portable = os.path.join(folder, "opt", "cobra", "bin")
        work = os.path.join(folder, "work")
        questions = roots.make_models(work)
        sides = (Side(roots.BIN, os.path.join(folder, "ordinary")), Side(portable, os.path.join(folder, "portable")))
        print("| what | ordinary | portable | ratio | spread: ordinary / portable, ms |\n|---|---|---|---|---|")
        for name, command in STARTS.items():
            compare(name, arguments.rounds, sides, lambda side: side.seconds(*command, cwd=work))
        compare("first answer", max(arguments.rounds // 3, 3), sides, lambda side: cold(side, questions[0], work))
        compare(
            "warm explain", arguments.rounds, sides, lambda side: side.seconds("cobra-client", *questions[0], cwd=work)
        )
        compare(
            "warm predict", arguments.rounds, sides, lambda side: side.seconds("cobra-client", *questions[1], cwd=work)
        )
        for name, side in zip(("ordinary", "portable"), sides):
            print(
                f"peak memory of server and readers, {name}: {side.peak_memory_kb() / 1024:.0f} MB in {len(side.servers())} processes"
            )
            side.end()
        if arguments.serve:
            serve(portable)


if __name__ == "__main__":
    main()
