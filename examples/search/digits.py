"""scikit-learn's digits, 1,797 images of 8 x 8, and the training of a candidate: the same for every guide."""
from typing import NamedTuple

import sklearn.datasets
import torch
from torch import nn
from torch.nn import functional as F

TRAINED, SEEN = 500, 600  # Images to train on; images that the search sees. The others only judge what was found.
STEPS, BATCH = 40, 64


class Trained(NamedTuple):
    """`error` is what a search sees; `test_error` is on images that it does not see."""

    error: float
    test_error: float


class Digits:
    """The images with `channels` equal channels. Test images are moved and noisy, so that networks differ."""

    def __init__(self, channels: int) -> None:
        data = sklearn.datasets.load_digits()
        order = torch.randperm(len(data.target), generator=torch.Generator().manual_seed(0))
        images = torch.tensor(data.images, dtype=torch.float32)[order, None] / 8 - 1
        generator = torch.Generator().manual_seed(1)
        images = images + 0.5 * torch.randn(images.shape, generator=generator)
        self.images = images.expand(-1, channels, -1, -1).contiguous()
        self.labels = torch.tensor(data.target)[order]

    def train(self, network: nn.Module, seed: int) -> Trained:
        """Trains the network: a few seconds."""
        generator = torch.Generator().manual_seed(seed)
        optimiser = torch.optim.AdamW(network.parameters(), lr=0.01, weight_decay=0.01)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.01, total_steps=STEPS)
        network.train()
        for _ in range(STEPS):
            batch = torch.randint(TRAINED, (BATCH,), generator=generator)
            optimiser.zero_grad()
            F.cross_entropy(network(self.images[batch]), self.labels[batch]).backward()
            optimiser.step()
            schedule.step()
        return Trained(self._error(network, TRAINED, TRAINED + SEEN), self._error(network, TRAINED + SEEN, None))

    def _error(self, network: nn.Module, begin: int, end: "int | None") -> float:
        network.eval()
        with torch.inference_mode():
            found = network(self.images[begin:end]).argmax(1)
        return float((found != self.labels[begin:end]).float().mean())
