#!/usr/bin/env python3
"""A first search with Optuna: networks for scikit-learn's digits that take at most 0.2 ms. Candidates that take longer are never trained."""
import optuna
import sklearn.datasets
import torch
from torch import nn

import cobra_latency
from cobra_latency import FeasibleUnder
from cobra_latency.search.optuna import Latency

TARGET = "cpu-epyc-turin-1t-torch"  # cobra_latency.local().targets() lists them
INPUTS = "1x1x8x8"

images, labels = sklearn.datasets.load_digits(return_X_y=True)
images, labels = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 8 - 1, torch.tensor(labels)


def network(*widths):
    layers, before = [], 1
    for width in widths:
        layers += [nn.Conv2d(before, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def train(net):
    """The accuracy on images that were not trained on."""
    net.train()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.01)
    for step in range(60):
        batch = torch.randint(1000, (64,))
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(images[batch]), labels[batch]).backward()
        optimiser.step()
    with torch.inference_mode():
        return float((net.eval()(images[1000:]).argmax(1) == labels[1000:]).float().mean())


def main():
    torch.manual_seed(1)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with cobra_latency.local() as client:
        latency = Latency(FeasibleUnder(0.2, TARGET, client))

        def objective(trial):
            depth = trial.suggest_int("depth", 1, 8)
            net = network(*(trial.suggest_int(f"width{n}", 4, 64) for n in range(depth)))
            ms = latency.check(trial, net.eval(), INPUTS)  # raises TrialPruned, with the reason
            return train(net), ms

        sampler = latency.sampler(optuna.samplers.TPESampler, seed=1)
        study = optuna.create_study(sampler=sampler, directions=["maximize", "minimize"])
        study.optimize(objective, n_trials=30)

    pruned = [t for t in study.trials if t.state == optuna.trial.TrialState.PRUNED]
    print(f"{len(study.trials)} trials, {len(pruned)} not trained, for example trial {pruned[0].number}:")
    print(f"  {pruned[0].user_attrs['cobra_latency:reason']}")
    for trial in sorted(study.best_trials, key=lambda t: t.values[1]):
        widths = [trial.params[f"width{n}"] for n in range(trial.params["depth"])]
        print(f"{trial.values[0]:.1%} right in {trial.values[1]:.3f} ms: widths {widths}")


if __name__ == "__main__":
    main()
