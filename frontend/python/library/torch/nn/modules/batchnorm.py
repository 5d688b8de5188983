import torch
from torch.nn import functional as F
from torch.nn.modules.module import Module, _accepts_rank, _batch_norm, _init


def _check_bias(bias):
    # `bias` came between 2.0 and 2.13.
    if not bias and not torch._at_least(2, 0):
        raise TypeError("__init__() got an unexpected keyword argument 'bias'")


class _NormBase(Module):
    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    @_init(
        "num_features eps momentum affine track_running_stats",
        weight="num_features if affine",
        bias="num_features if bias",
        running_mean="buffer num_features if track_running_stats",
        running_var="buffer num_features if track_running_stats",
        num_batches_tracked="buffer counter if track_running_stats",
    )
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        if not bias:
            _check_bias(bias)
        bias = affine and bias

    def reset_running_stats(self):
        pass

    def reset_parameters(self):
        pass

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        has_bias = ", bias={}".format(self.bias is not None) if torch._at_least(2, 13) else ""
        return "{}, eps={}, momentum={}, affine={}{}, track_running_stats={}".format(
            self.num_features, self.eps, self.momentum, self.affine, has_bias, self.track_running_stats
        )


class _BatchNorm(_NormBase):
    @_batch_norm()
    def forward(self, input):
        ...


class BatchNorm1d(_BatchNorm):
    @_accepts_rank(2, 3)
    def _check_input_dim(self, input):
        raise ValueError("expected 2D or 3D input (got {}D input)".format(input.dim()))


class BatchNorm2d(_BatchNorm):
    @_accepts_rank(4)
    def _check_input_dim(self, input):
        raise ValueError("expected 4D input (got {}D input)".format(input.dim()))


class BatchNorm3d(_BatchNorm):
    @_accepts_rank(5)
    def _check_input_dim(self, input):
        raise ValueError("expected 5D input (got {}D input)".format(input.dim()))


class SyncBatchNorm(_BatchNorm):
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError("expected at least 2D input (got {}D input)".format(input.dim()))

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        output = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            output = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=not module.affine or module.bias is not None,
            )
            if module.affine:
                output.weight = module.weight
                output.bias = module.bias
            output.running_mean = module.running_mean
            output.running_var = module.running_var
            output.num_batches_tracked = module.num_batches_tracked
            output.training = module.training
        for name, child in module.named_children():
            output.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return output
