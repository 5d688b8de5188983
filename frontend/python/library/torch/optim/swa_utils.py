import copy

from torch.nn import Module


class AveragedModel(Module):
    def __init__(self, model, *args, **kwargs):
        super().__init__()
        self.module = copy.deepcopy(model)

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)
