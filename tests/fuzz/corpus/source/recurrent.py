"""LSTM and GRU over an embedding of constants."""
import torch
import torch.nn as nn


class Recurrent(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.lstm = nn.LSTM(size, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(2 * hidden, hidden)
        self.position = nn.Embedding(10, hidden)

    def forward(self, x):
        x, (h, c) = self.lstm(x)
        x, _ = self.gru(x)
        return x + self.position(torch.arange(x.size(1))), h[-1]
