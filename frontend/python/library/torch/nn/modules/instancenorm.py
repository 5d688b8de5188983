from torch.nn import functional as F
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.module import _accepts_rank


class _InstanceNorm(_NormBase):
    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=False,
        track_running_stats=False,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self):
        raise NotImplementedError

    def forward(self, input):
        self._check_input_dim(input)
        if input.dim() == self._get_no_batch_dim():
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)

    def _apply_instance_norm(self, input):
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum,
            self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    def _get_no_batch_dim(self):
        return 2

    @_accepts_rank(2, 3)
    def _check_input_dim(self, input):
        raise ValueError("expected 2D or 3D input (got {}D input)".format(input.dim()))


class InstanceNorm2d(_InstanceNorm):
    def _get_no_batch_dim(self):
        return 3

    @_accepts_rank(3, 4)
    def _check_input_dim(self, input):
        raise ValueError("expected 3D or 4D input (got {}D input)".format(input.dim()))


class InstanceNorm3d(_InstanceNorm):
    def _get_no_batch_dim(self):
        return 4

    @_accepts_rank(4, 5)
    def _check_input_dim(self, input):
        raise ValueError("expected 4D or 5D input (got {}D input)".format(input.dim()))
