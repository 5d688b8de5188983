#!/usr/bin/env python3
"""How the portable programs compare with the ordinary build's in time and memory, both in one run.
Prints a table; asserts nothing.
    tests/portable/speed.py [--rounds 15] [--serve]
With --serve also `cobra-bench serve --beside`, some minutes. Leave the machine alone meanwhile."""
import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import roots

ROWS = 15000  # of NAS-Bench-201's 15,625 cells
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

    def processor_s(self):
        return sum(roots.processor_s(pid) for pid in self.servers())

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


def write_list(path):
    """Cells of NAS-Bench-201, as many as ROWS."""
    operators = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
    with open(path, "w") as file:
        file.write("row,model,entry,inputs,arguments,mode\n")
        for i, chosen in enumerate(itertools.islice(itertools.product(operators, repeat=6), ROWS)):
            edges = [f"{operator}~{source}" for operator, source in zip(chosen, (0, 0, 1, 0, 1, 2))]
            cell = "|+|".join("|".join(part) for part in (edges[:1], edges[1:3], edges[3:]))
            file.write(f"q{i},nasbench201:|{cell}|,,,,\n")


def compare_serving(rounds, sides, cwd):
    """What the server itself takes of the processor for answers that it has given before: other
    programs on the machine disturb that less than seconds."""
    write_list(os.path.join(cwd, "list.csv"))
    asked = ("predict", "--list", "list.csv", "--target", roots.TARGET, "--out")
    times = ([], [])
    for round_number in range(rounds + 1):
        for i in (0, 1) if round_number % 2 == 0 else (1, 0):
            before = sides[i].processor_s()
            sides[i].seconds("cobra-client", *asked, f"answers-{i}.csv", cwd=cwd)
            times[i].append(sides[i].processor_s() - before)
    times = [each[1:] for each in times]  # the first ones were not cached
    medians = [statistics.median(each) / ROWS * 1e6 for each in times]
    ratio = statistics.median(theirs / ours for ours, theirs in zip(*times))
    spread = " / ".join(f"{min(each) / ROWS * 1e6:.1f}..{max(each) / ROWS * 1e6:.1f}" for each in times)
    with open(os.path.join(cwd, "answers-0.csv")) as ours, open(os.path.join(cwd, "answers-1.csv")) as theirs:
        same = "the same" if ours.read() == theirs.read() else "OTHER"
    print(
        f"| server, processor time of an answer | {medians[0]:.1f} us | {medians[1]:.1f} us | {ratio:.3f} | {spread} us |"
    )
    print(f"{ROWS} answers: {same} bytes")


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
        compare_serving(arguments.rounds, sides, work)
        for name, side in zip(("ordinary", "portable"), sides):
            print(
                f"peak memory of server and readers, {name}: {side.peak_memory_kb() / 1024:.0f} MB in {len(side.servers())} processes"
            )
            side.end()
        if arguments.serve:
            serve(portable)


if __name__ == "__main__":
    main()
