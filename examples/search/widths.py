"""The widths, depths and blocks of a small network, searched with Optuna. A candidate is a live module."""
import optuna
from torch import nn

from cobra_latency.search.optuna import Latency

INPUTS = "1x1x8x8"
IMAGE_CHANNELS = 1
SPACE = {
    f"{name}{stage}": choices
    for stage in range(3)
    for name, choices in (
        ("width", (8, 16, 24, 32, 48, 64)),
        ("depth", (1, 2, 3, 4)),
        ("block", ("plain", "separable", "bottleneck")),
        ("kernel", (3, 5)),
    )
}
# As MobileNet has it: each convolution depthwise, then 1 x 1.
REFERENCE = {
    name: (16, 32, 64)[int(name[-1])] if name.startswith("width") else {"depth": 2, "block": "separable", "kernel": 3}[name[:-1]]
    for name in SPACE
}


def search(fits, train, seed):
    """Goes on until `train` ends it with an exception."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    latency = Latency(fits)

    def objective(trial):
        settings = {name: trial.suggest_categorical(name, choices) for name, choices in SPACE.items()}
        ms = latency.check(trial, asked(settings), INPUTS)  # raises TrialPruned for a candidate over the budget
        return train(settings, ms), ms

    sampler = latency.sampler(optuna.samplers.TPESampler, seed=seed, multivariate=True)
    study = optuna.create_study(sampler=sampler, directions=["minimize", "minimize"])
    study.optimize(objective, n_trials=10**6)


def at_random(random):
    """A candidate."""
    return {name: random.choice(choices) for name, choices in SPACE.items()}


def asked(candidate):
    """What a guide is asked about."""
    return network(candidate).eval()


def _layer(before, after, kernel=1, stride=1, groups=1):
    convolution = nn.Conv2d(before, after, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(after), nn.ReLU(inplace=True))


def _block(kind, before, after, kernel, stride):
    if kind == "plain":
        return _layer(before, after, kernel, stride)
    if kind == "separable":
        return nn.Sequential(_layer(before, before, kernel, stride, groups=before), _layer(before, after))
    inner = 3 * before
    return nn.Sequential(_layer(before, inner), _layer(inner, inner, kernel, stride, groups=inner), _layer(inner, after))


def network(settings: dict) -> nn.Module:
    """The network of settings: SPACE has the names."""
    before = settings["width0"]
    layers = [_layer(1, before, 3)]
    for stage in range(3):
        for number in range(settings[f"depth{stage}"]):
            after, stride = settings[f"width{stage}"], 2 if stage and not number else 1
            layers.append(_block(settings[f"block{stage}"], before, after, settings[f"kernel{stage}"], stride))
            before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))
