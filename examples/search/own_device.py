#!/usr/bin/env python3
"""A target for this machine and this Python from a few timings, and how far off it is on networks that were not timed.

    own_device.py widths --timings 10        also: cells

Beside it the straight line through the same timings that FLOPs make, and the shipped target.
"""
import argparse
import importlib
import random
import statistics

import torch

import cobra_latency
from cobra_latency import Question, Timed
from guides import milliseconds, multiply_accumulates

ROUNDS, OTHERS = 5, 30


def error(predicted, true):
    """The mean error, and by how much predictions are too long in general."""
    off = [p / t for p, t in zip(predicted, true)]
    return f"{statistics.mean(abs(part - 1) for part in off):6.1%} {statistics.median(off) - 1:+7.1%}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("space", choices=["cells", "widths"])
    parser.add_argument("--timings", type=int, default=10)
    parser.add_argument("--target", default="cpu-epyc-turin-1t-torch", help="the shipped target to compare with")
    parser.add_argument("--server", help="the program cobra-server, if it is not on PATH")
    options = parser.parse_args()
    torch.set_num_threads(1)
    space = importlib.import_module(options.space)
    chance = random.Random(1)
    candidates = [space.at_random(chance) for _ in range(options.timings + OTHERS)]
    networks = [space.network(candidate).eval() for candidate in candidates]
    rounds = [[milliseconds(net, space.INPUTS, 0.03) for net in networks] for _ in range(ROUNDS)]
    true = [statistics.median(timings) for timings in zip(*rounds)]

    # What was timed: the first ones, once, as a user would.
    timed = [Timed(net, space.INPUTS, ms) for net, ms in zip(networks[: options.timings], rounds[0])]
    others, others_true = networks[options.timings :], true[options.timings :]
    with cobra_latency.local(options.server) as client:
        sheet = {"device": "this machine", "kind": "cpu", "runtime": f"torch-{torch.__version__}", "threads": 1}
        print(client.adapt("this-python", sheet, timed))
        asked = [
            [answer.get()[target].ms for answer in client.predict_many(Question(n, space.INPUTS, target) for n in others)]
            for target in ("this-python", options.target)
        ]
    counts = [multiply_accumulates(net, space.INPUTS) for net in networks]
    line = statistics.linear_regression(counts[: options.timings], rounds[0][: options.timings])
    by_flops = [line.intercept + line.slope * count for count in counts[options.timings :]]
    print(f"\n{OTHERS} others                    error   bias")
    print(f"{options.timings} timings, adapted           {error(asked[0], others_true)}")
    print(f"{options.timings} timings, a line of FLOPs   {error(by_flops, others_true)}")
    print(f"{options.target}     {error(asked[1], others_true)}")


if __name__ == "__main__":
    main()
