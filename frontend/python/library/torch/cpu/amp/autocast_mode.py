from torch.cpu.amp import autocast
