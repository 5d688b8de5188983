from torch.nn import functional as F
from torch.nn.modules.module import Module, _forward, _init


class _DropoutNd(Module):
    _format = "p={p}, inplace={inplace}"
    __constants__ = ["p", "inplace"]

    @_init("p inplace")
    def __init__(self, p=0.5, inplace=False):
        if p < 0 or p > 1:
            raise ValueError("dropout probability has to be between 0 and 1, but got {}".format(p))


class Dropout(_DropoutNd):
    @_forward(F, "dropout", "input self.p self.training self.inplace")
    def forward(self, input):
        ...


class Dropout1d(_DropoutNd):
    @_forward(F, "dropout1d", "input self.p self.training self.inplace")
    def forward(self, input):
        ...


class Dropout2d(_DropoutNd):
    @_forward(F, "dropout2d", "input self.p self.training self.inplace")
    def forward(self, input):
        ...


class Dropout3d(_DropoutNd):
    @_forward(F, "dropout3d", "input self.p self.training self.inplace")
    def forward(self, input):
        ...


class AlphaDropout(_DropoutNd):
    @_forward(F, "alpha_dropout", "input self.p self.training")
    def forward(self, input):
        ...


class FeatureAlphaDropout(_DropoutNd):
    @_forward(F, "feature_alpha_dropout", "input self.p self.training")
    def forward(self, input):
        ...
