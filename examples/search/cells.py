"""NAS-Bench-201's cells, searched with pymoo. A candidate is an architecture string, which is both asked about and built."""
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.operators.crossover.sbx import SBX
from pymoo.operators.mutation.pm import PM
from pymoo.operators.repair.rounding import RoundingRepair
from pymoo.operators.sampling.rnd import IntegerRandomSampling
from torch import nn

from cobra_latency.search.pymoo import LatencyProblem

INPUTS = "1x3x8x8"
OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
CHANNELS, CELLS = 16, 2
IMAGE_CHANNELS = 3


class Cells(LatencyProblem):
    """Six choices, one per edge of the cell. `train` gives the error of a candidate."""

    def __init__(self, fits, train):
        super().__init__(fits, n_var=6, n_obj=2, xl=0, xu=len(OPERATIONS) - 1, vtype=int)
        self.train = train

    def candidate(self, x):
        return architecture(x), INPUTS

    def objectives(self, x):
        return [self.train(architecture(x), self.verdict.ms)]


def search(fits, train, seed):
    """Goes on until `train` ends it with an exception."""
    whole = {"vtype": float, "repair": RoundingRepair()}
    algorithm = NSGA2(pop_size=16, sampling=IntegerRandomSampling(), crossover=SBX(**whole), mutation=PM(**whole))
    algorithm.setup(Cells(fits, train), termination=("n_gen", 10**6), seed=seed)
    while algorithm.has_next():
        algorithm.next()


def at_random(random):
    """A candidate."""
    return architecture([random.randrange(len(OPERATIONS)) for _ in range(6)])


def asked(candidate):
    """What a guide is asked about."""
    return candidate


def architecture(choice) -> str:
    """The string of six choices, for cobra_latency and for network()."""
    a, b, c, d, e, f = (OPERATIONS[int(n)] for n in choice)
    return f"nasbench201,channels={CHANNELS},cells={CELLS}:|{a}~0|+|{b}~0|{c}~1|+|{d}~0|{e}~1|{f}~2|"


# As a residual network has it: two convolutions, and a connection that skips them.
REFERENCE = architecture((3, 0, 3, 1, 0, 1))


def _convolution(before, after, kernel, stride=1):
    return nn.Sequential(
        nn.ReLU(),
        nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(after),
    )


class _Zero(nn.Module):
    def forward(self, x):
        return x.mul(0.0)


def _operation(name, channels):
    if name == "none":
        return _Zero()
    if name == "skip_connect":
        return nn.Identity()
    if name == "avg_pool_3x3":
        return nn.AvgPool2d(3, 1, 1, count_include_pad=False)
    return _convolution(channels, channels, 1 if name == "nor_conv_1x1" else 3)


class _Cell(nn.Module):
    """Each node is the sum of an operation on each node before it."""

    def __init__(self, names, channels):
        super().__init__()
        self.edges = nn.ModuleList(_operation(name, channels) for name in names)

    def forward(self, x):
        nodes, edges = [x], iter(self.edges)
        for _ in range(3):
            nodes.append(sum(next(edges)(node) for node in list(nodes)))
        return nodes[-1]


class _Reduction(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.convolutions = nn.Sequential(_convolution(before, after, 3, 2), _convolution(after, after, 3))
        self.shortcut = nn.Sequential(nn.AvgPool2d(2, 2), nn.Conv2d(before, after, 1, bias=False))

    def forward(self, x):
        return self.shortcut(x) + self.convolutions(x)


def network(text: str) -> nn.Module:
    """The network of an architecture string."""
    names = [edge.split("~")[0] for edge in text.split(":", 1)[1].replace("+", "").split("|") if edge]
    width = CHANNELS
    layers = [nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)]
    for stage in range(3):
        if stage:
            layers.append(_Reduction(width, 2 * width))
            width *= 2
        layers += [_Cell(names, width) for _ in range(CELLS)]
    layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(width, 10))
