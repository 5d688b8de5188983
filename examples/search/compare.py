#!/usr/bin/env python3
"""Three guides search in the same time for accurate networks that are as fast as a reference: COBRA, FLOPs, and measuring each candidate.

    compare.py cells --out cells.jsonl            NAS-Bench-201's cells, by pymoo
    compare.py widths --out widths.jsonl          widths, depths and blocks, by Optuna

The results go to a file of JSON lines, one per search; a second run does what is missing. At the end the networks on all fronts are timed in turns,
and a table shows how much of the best front each guide has found (hypervolume). docs/search.md has the results.
"""
import argparse
import importlib
import json
import random
import sys

import torch

import cobra_latency
import report
from digits import Digits
from guides import GUIDES, Stopwatch, milliseconds


class TimeUp(Exception):
    """The search has had its time."""


class Watched:
    """A guide whose questions are counted, with their time; it ends the search when its time is up, also where all candidates are refused."""

    def __init__(self, fits, watch, seconds):
        self.fits, self.watch, self.end = fits, watch, seconds
        self.asked, self.seconds = 0, 0.0

    def __getattr__(self, name):
        return getattr(self.fits, name)

    def _ask(self, count, question):
        before = self.watch.seconds
        answer = question()
        self.asked += count
        self.seconds += self.watch.seconds - before
        if self.watch.seconds > self.end:
            raise TimeUp
        return answer

    def __call__(self, model, inputs=None):
        return self._ask(1, lambda: self.fits(model, inputs))

    def many(self, candidates):
        candidates = list(candidates)
        return self._ask(len(candidates), lambda: self.fits.many(candidates))


def one_search(space, guide, seed, client, options):
    """What one guide finds in its time: a line of the results."""

    def build(candidate):
        return candidate if isinstance(candidate, torch.nn.Module) else space.network(candidate)

    digits = Digits(space.IMAGE_CHANNELS)
    torch.manual_seed(seed)
    watch, found = Stopwatch(client), []
    fits = GUIDES[guide](client, options.target, space.asked, build, space.REFERENCE, space.INPUTS)
    fits = Watched(fits, watch, options.seconds)

    def train(candidate, ms):
        torch.manual_seed(1000 * seed + len(found))
        trained = digits.train(space.network(candidate), seed)
        if watch.seconds > options.seconds:
            raise TimeUp
        errors = {"error": trained.error, "test_error": trained.test_error}
        found.append({"candidate": candidate, "guided": ms / fits.budget_ms, **errors})
        return trained.error

    try:
        space.search(fits, train, seed)
    except TimeUp:
        pass
    asked = {"asked": fits.asked, "asked_s": fits.seconds}
    return {"guide": guide, "seed": seed, "seconds": options.seconds, **asked, "found": found}


def time_in_turns(space, candidates, rounds):
    """Of each round the times of the candidates, as parts of the reference's. The order changes from round to round."""
    networks = {name: space.network(candidate).eval() for name, candidate in candidates.items()}
    for number in rounds:
        order = list(networks)
        random.Random(number).shuffle(order)
        timed = {name: milliseconds(networks[name], space.INPUTS, 0.1) for name in order}
        yield {name: ms / timed[report.REFERENCE] for name, ms in timed.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("space", choices=["cells", "widths"])
    parser.add_argument("--out", required=True, help="results, one JSON object a line; kept and completed if it is there")
    parser.add_argument("--seconds", type=float, default=60, help="of one search")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5, help="of timing the networks that were found")
    parser.add_argument("--guide", choices=list(GUIDES), action="append", help="again for several; default: all")
    parser.add_argument("--target", default="cpu-epyc-turin-1t-torch", help="what COBRA predicts for: this machine")
    parser.add_argument("--server", help="the program cobra-server, if it is not on PATH")
    options = parser.parse_args()
    torch.set_num_threads(1)
    space = importlib.import_module(options.space)
    lines = report.read(options.out)
    lines = [line for line in lines if line.get("seed", 0) < options.seeds]
    other = {line["seconds"] for line in lines if "guide" in line} - {options.seconds}
    if other:
        parser.error(f"--seconds {options.seconds}: {options.out} has searches of {other.pop()} s; give that, or another --out")
    done = {(line["guide"], line["seed"]) for line in lines if "guide" in line}
    wanted = [(guide, seed) for seed in range(options.seeds) for guide in options.guide or GUIDES]
    with open(options.out, "a", encoding="utf-8") as file, cobra_latency.local(options.server) as client:
        for guide, seed in wanted:
            if (guide, seed) in done:
                continue
            lines.append(one_search(space, guide, seed, client, options))
            print(json.dumps(lines[-1]), file=file, flush=True)
            print(f"{guide}, seed {seed}: {len(lines[-1]['found'])} of {lines[-1]['asked']} trained", file=sys.stderr)
        fronts = {**report.candidates_on_fronts(lines), report.REFERENCE: space.REFERENCE}
        rounds = sum(set(fronts) <= set(line.get("timed", ())) for line in lines)
        for timed in time_in_turns(space, fronts, range(rounds, options.rounds)):
            lines.append({"timed": timed})
            print(json.dumps(lines[-1]), file=file, flush=True)
    print(report.table(lines))


if __name__ == "__main__":
    main()
