import torch
from torch.nn import functional as F
from torch.nn.modules.linear import NonDynamicallyQuantizableLinear
from torch.nn.modules.module import Module, _forward, _init
from torch.nn.parameter import Parameter


class Threshold(Module):
    _format = "threshold={threshold}, value={value}"
    _format_inplace = True

    @_init("threshold value inplace")
    def __init__(self, threshold, value, inplace=False):
        ...

    @_forward(F, "threshold", "input self.threshold self.value self.inplace")
    def forward(self, input):
        ...


class ReLU(Module):
    _format = ""
    _format_inplace = True
    __constants__ = ["inplace"]

    @_init("inplace")
    def __init__(self, inplace=False):
        ...

    @_forward(F, "relu", "input", inplace="self.inplace")
    def forward(self, input):
        ...


class RReLU(Module):
    _format = "lower={lower}, upper={upper}"
    _format_inplace = True

    @_init("lower upper inplace")
    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        ...

    @_forward(F, "rrelu", "input self.lower self.upper self.training self.inplace")
    def forward(self, input):
        ...


class Hardtanh(Module):
    _format = "min_val={min_val}, max_val={max_val}"
    _format_inplace = True

    @_init("min_val max_val inplace")
    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None):
        if min_value is not None:
            min_val = min_value
        if max_value is not None:
            max_val = max_value
        assert max_val > min_val

    @_forward(F, "hardtanh", "input self.min_val self.max_val self.inplace")
    def forward(self, input):
        ...


class ReLU6(Hardtanh):
    _format = ""

    def __init__(self, inplace=False):
        super().__init__(0.0, 6.0, inplace)


class Sigmoid(Module):
    @_forward(torch, "sigmoid", "input")
    def forward(self, input):
        ...


class Hardsigmoid(Module):
    @_init("inplace")
    def __init__(self, inplace=False):
        ...

    @_forward(F, "hardsigmoid", "input self.inplace")
    def forward(self, input):
        ...


class Tanh(Module):
    @_forward(torch, "tanh", "input")
    def forward(self, input):
        ...


class SiLU(Module):
    _format = ""
    _format_inplace = True
    __constants__ = ["inplace"]

    @_init("inplace")
    def __init__(self, inplace=False):
        ...

    @_forward(F, "silu", "input", inplace="self.inplace")
    def forward(self, input):
        ...


class Mish(Module):
    _format = ""
    _format_inplace = True

    @_init("inplace")
    def __init__(self, inplace=False):
        ...

    @_forward(F, "mish", "input", inplace="self.inplace")
    def forward(self, input):
        ...


class Hardswish(Module):
    @_init("inplace")
    def __init__(self, inplace=False):
        ...

    @_forward(F, "hardswish", "input self.inplace")
    def forward(self, input):
        ...


class ELU(Module):
    _format = "alpha={alpha}"
    _format_inplace = True

    @_init("alpha inplace")
    def __init__(self, alpha=1.0, inplace=False):
        ...

    @_forward(F, "elu", "input self.alpha self.inplace")
    def forward(self, input):
        ...


class CELU(Module):
    _format = "alpha={alpha}"
    _format_inplace = True

    @_init("alpha inplace")
    def __init__(self, alpha=1.0, inplace=False):
        ...

    @_forward(F, "celu", "input self.alpha self.inplace")
    def forward(self, input):
        ...


class SELU(Module):
    _format = ""
    _format_inplace = True

    @_init("inplace")
    def __init__(self, inplace=False):
        ...

    @_forward(F, "selu", "input self.inplace")
    def forward(self, input):
        ...


class GLU(Module):
    _format = "dim={dim}"

    @_init("dim")
    def __init__(self, dim=-1):
        ...

    @_forward(F, "glu", "input self.dim")
    def forward(self, input):
        ...


class GELU(Module):
    _format = "approximate={approximate!r}"
    __constants__ = ["approximate"]

    @_init("approximate")
    def __init__(self, approximate="none"):
        ...

    @_forward(F, "gelu", "input", approximate="self.approximate")
    def forward(self, input):
        ...


class Hardshrink(Module):
    _format = "{lambd}"

    @_init("lambd")
    def __init__(self, lambd=0.5):
        ...

    @_forward(F, "hardshrink", "input self.lambd")
    def forward(self, input):
        ...


class LeakyReLU(Module):
    _format = "negative_slope={negative_slope}"
    _format_inplace = True

    @_init("negative_slope inplace")
    def __init__(self, negative_slope=1e-2, inplace=False):
        ...

    @_forward(F, "leaky_relu", "input self.negative_slope self.inplace")
    def forward(self, input):
        ...


class LogSigmoid(Module):
    @_forward(F, "logsigmoid", "input")
    def forward(self, input):
        ...


class Softplus(Module):
    _format = "beta={beta}, threshold={threshold}"

    @_init("beta threshold")
    def __init__(self, beta=1, threshold=20):
        ...

    @_forward(F, "softplus", "input self.beta self.threshold")
    def forward(self, input):
        ...


class Softshrink(Module):
    _format = "{lambd}"

    @_init("lambd")
    def __init__(self, lambd=0.5):
        ...

    @_forward(F, "softshrink", "input self.lambd")
    def forward(self, input):
        ...


class PReLU(Module):
    _format = "num_parameters={num_parameters}"
    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters=1, init=0.25, device=None, dtype=None):
        super().__init__()
        self.num_parameters = num_parameters
        if int(torch.__version__.split(".")[0]) >= 2:
            self.init = init
        self.weight = Parameter(torch.empty(num_parameters, dtype=dtype).fill_(init))

    def reset_parameters(self):
        torch.nn.init.constant_(self.weight, self.init)

    @_forward(F, "prelu", "input self.weight")
    def forward(self, input):
        ...


class Softsign(Module):
    @_forward(F, "softsign", "input")
    def forward(self, input):
        ...


class Tanhshrink(Module):
    @_forward(F, "tanhshrink", "input")
    def forward(self, input):
        ...


class Softmin(Module):
    _format = "dim={dim}"

    @_init("dim")
    def __init__(self, dim=None):
        ...

    @_forward(F, "softmin", "input self.dim")
    def forward(self, input):
        ...


class Softmax(Module):
    _format = "dim={dim}"
    __constants__ = ["dim"]

    @_init("dim")
    def __init__(self, dim=None):
        ...

    @_forward(F, "softmax", "input self.dim")
    def forward(self, input):
        ...


class Softmax2d(Module):
    @_forward(F, "softmax", "input", -3)
    def forward(self, input):
        if input.dim() not in (3, 4):
            later = int(torch.__version__.split(".")[0]) >= 2
            raise (ValueError if later else AssertionError)(
                "Softmax2d: expected input to be 3D or 4D, got %dD instead" % input.dim()
            )


class LogSoftmax(Module):
    _format = "dim={dim}"

    @_init("dim")
    def __init__(self, dim=None):
        ...

    @_forward(F, "log_softmax", "input self.dim")
    def forward(self, input):
        ...


class MultiheadAttention(Module):
    __constants__ = ["batch_first"]

    if torch._at_least(2, 0):

        def merge_masks(self, attn_mask, key_padding_mask, query):
            torch._unsupported("nn.MultiheadAttention.merge_masks()")

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == self.embed_dim, "embed_dim must be divisible by num_heads"
        if not self._qkv_same_embed_dim:
            self.q_proj_weight = Parameter(torch.empty((embed_dim, embed_dim), dtype=dtype))
            self.k_proj_weight = Parameter(torch.empty((embed_dim, self.kdim), dtype=dtype))
            self.v_proj_weight = Parameter(torch.empty((embed_dim, self.vdim), dtype=dtype))
            self.register_parameter("in_proj_weight", None)
        else:
            self.in_proj_weight = Parameter(torch.empty((3 * embed_dim, embed_dim), dtype=dtype))
            self.register_parameter("q_proj_weight", None)
            self.register_parameter("k_proj_weight", None)
            self.register_parameter("v_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(torch.empty(3 * embed_dim, dtype=dtype))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, dtype=dtype)
        if add_bias_kv:
            self.bias_k = Parameter(torch.empty((1, 1, embed_dim), dtype=dtype))
            self.bias_v = Parameter(torch.empty((1, 1, embed_dim), dtype=dtype))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self):
        pass

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        is_batched = query.dim() == 3
        key_padding_mask = F._canonical_mask(key_padding_mask, "key_padding_mask", query.dtype)
        attn_mask = F._canonical_mask(attn_mask, "attn_mask", query.dtype)
        if self.batch_first and is_batched:
            if key is value:
                if query is key:
                    query = key = value = query.transpose(1, 0)
                else:
                    query, key = [x.transpose(1, 0) for x in (query, key)]
                    value = key
            else:
                query, key, value = [x.transpose(1, 0) for x in (query, key, value)]
        weights = {}
        if not self._qkv_same_embed_dim:
            weights = dict(
                use_separate_proj_weight=True,
                q_proj_weight=self.q_proj_weight,
                k_proj_weight=self.k_proj_weight,
                v_proj_weight=self.v_proj_weight,
            )
        if is_causal:  # a hint about attn_mask
            weights["is_causal"] = True
        attn_output, attn_output_weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            **weights,
        )
        if self.batch_first and is_batched:
            return attn_output.transpose(1, 0), attn_output_weights
        return attn_output, attn_output_weights
