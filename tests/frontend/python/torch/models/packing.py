"""Sequences of several lengths, packed; complex constants of a rotary embedding; tensors of a weight's type made with new()."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence


def rotary(width, steps):
    frequencies = 1.0 / (100.0 ** (torch.arange(0, width, 2) / width))
    return torch.polar(torch.ones(steps, width // 2), torch.outer(torch.arange(steps), frequencies))


class Packing(nn.Module):
    def __init__(self, size, hidden, lengths):
        super().__init__()
        self.lengths = lengths
        self.lstm = nn.LSTM(size, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(2 * hidden, hidden, batch_first=True)
        self.rnn = nn.RNN(size, hidden)
        self.register_buffer("rotation", rotary(hidden, 16), persistent=False)
        turn = torch.view_as_real(self.rotation)[1, 0]
        self.scale = nn.Parameter(torch.full((hidden,), round(turn[1].item(), 6)))  # sin(1)
        marks = torch.zeros(3, 8)
        marks[1:, :4].add_(1)
        self.head = nn.Linear(int(marks.sum().item()), size)  # what a view was written to: 8
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        packed = pack_padded_sequence(x, self.lengths, batch_first=True, enforce_sorted=False)
        packed, (h, c) = self.lstm(packed)
        packed = PackedSequence(torch.relu(packed.data), packed.batch_sizes, packed.sorted_indices, packed.unsorted_indices)
        packed, state = self.gru(packed)
        out, lengths = pad_packed_sequence(packed, batch_first=True, total_length=x.size(1))
        first = self.scale.new(2, 3).fill_(0.5)
        pieces = pack_sequence([x[0, :3], x[1, :2]])
        start = self.head.weight.new(1, 2, out.size(-1)).zero_()
        tail, _ = pad_packed_sequence(self.rnn(pieces, start)[0])
        turned = torch.view_as_complex(out.reshape(*out.shape[:-1], -1, 2)) * self.rotation[: out.shape[1]]
        out = torch.view_as_real(turned).flatten(2) * self.scale
        return self.head(out[..., :8]), h[-1], tail, first + 1, state
