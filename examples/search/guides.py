"""What tells a search whether a candidate is as fast as a reference: COBRA, FLOPs, or a clock. Each is a FeasibleUnder to the search."""
import os
import statistics
import time

import torch
import torch.utils.benchmark
from torch import nn

from cobra_latency import FeasibleUnder, Verdict


class Stopwatch:
    """The time that a search has taken: processor time of this process and of the server. On a machine of its own that is time on the clock, for
    one waits for the other; on a shared one the work of others is left out."""

    def __init__(self, client):
        self.client = client
        self.servers = {client.server_process(): 0.0}  # Processes and their times: a server that ends, being idle, is followed by another.
        self.begin = self._now()

    @property
    def seconds(self):
        return self._now() - self.begin

    def _now(self):
        try:
            process = list(self.servers)[-1]
            self.servers[process] = processor_time(process)
        except FileNotFoundError:
            if self.client.server_process():
                self.servers[self.client.server_process()] = 0.0
        return time.process_time() + sum(self.servers.values())


def processor_time(process):
    """In seconds."""
    with open(f"/proc/{process}/stat", encoding="utf-8") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def milliseconds(network, inputs, least_s=0.2):
    """By PyTorch's own timer, with its own default of 0.2 s after a warm-up; in processor time of the thread, as in Stopwatch."""
    network.eval()
    x = torch.randn(*map(int, inputs.split("x")))
    timer = torch.utils.benchmark.Timer("network(x)", globals={"network": network, "x": x}, timer=time.thread_time)
    with torch.inference_mode():
        return statistics.median(timer.blocked_autorange(min_run_time=least_s).times) * 1e3


def multiply_accumulates(network, inputs):
    """Of convolutions and linear layers, as most papers count."""
    total = 0

    def count(layer, _, output):
        nonlocal total
        total += output.numel() * layer.weight[0].numel()

    hooks = [m.register_forward_hook(count) for m in network.modules() if isinstance(m, (nn.Conv2d, nn.Linear))]
    with torch.inference_mode():
        network.eval()(torch.zeros(*map(int, inputs.split("x"))))
    for hook in hooks:
        hook.remove()
    return total


class Under(FeasibleUnder):
    """A budget held against an estimate that is not COBRA's."""

    def __init__(self, budget_ms, estimate):
        super().__init__(budget_ms, "this machine")
        self.estimate = estimate

    def __call__(self, model, inputs=None):
        ms = self.estimate(model, inputs)
        return Verdict(ms <= self.budget_ms, f"{ms / self.budget_ms:.2f} times the reference", ms, ms)

    def many(self, candidates):
        return [self(*candidate) for candidate in candidates]


def by_cobra(client, target, ask_about, build, reference, inputs):
    """The prediction for the target, and the reference's."""
    return FeasibleUnder(client.predict(ask_about(reference), inputs, target).ms, target, client)


def by_flops(client, target, ask_about, build, reference, inputs):
    """Multiply-accumulates, in place of milliseconds, and the reference's."""
    return Under(multiply_accumulates(build(reference), inputs), lambda m, i: multiply_accumulates(build(m), i))


def by_measuring(client, target, ask_about, build, reference, inputs):
    """Milliseconds on the clock of this machine, and the reference's."""
    return Under(milliseconds(build(reference), inputs), lambda model, i: milliseconds(build(model), i))


GUIDES = {"cobra": by_cobra, "flops": by_flops, "measure": by_measuring}
