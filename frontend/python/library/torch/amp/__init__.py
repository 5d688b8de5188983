from torch import autocast
from torch.cuda.amp import GradScaler, custom_bwd, custom_fwd
