"""Tags the words of a sentence."""
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self, vocabulary, tags=17, width=128):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList([nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True) for _ in range(2)])
        self.head = nn.Linear(width, tags)

    def forward(self, words):
        x = self.embedding(words)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
