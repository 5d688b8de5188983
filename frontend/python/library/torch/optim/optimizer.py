from torch.optim import Optimizer

required = object()
