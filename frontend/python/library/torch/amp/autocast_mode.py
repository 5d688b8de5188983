from torch import autocast
