from torch.nn import functional as F
from torch.nn.modules.module import Module


class PixelShuffle(Module):
    _format = "upscale_factor={upscale_factor}"

    def __init__(self, upscale_factor):
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input):
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    _format = "downscale_factor={downscale_factor}"

    def __init__(self, downscale_factor):
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input):
        return F.pixel_unshuffle(input, self.downscale_factor)
