# A network of a kind that the shipped model has never measured: a recurrent one over the frames of
# a recording.
import torch
from torch import nn


class Speech(nn.Module):
    def __init__(self, features=80, width=256, layers=2, letters=40):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.encoder = nn.LSTM(features, width, layers, batch_first=True)
        self.head = nn.Linear(width, letters)

    def forward(self, frames):
        states, _ = self.encoder(self.norm(frames))
        return torch.log_softmax(self.head(states), dim=-1)
