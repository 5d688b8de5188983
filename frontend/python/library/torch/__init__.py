# torch: what is neither a tensor nor a call on one (those are C++: frontend/python/torch).
# Long because torch has that many small functions, and a name of a module is looked for in its own
# file.
import math

_int = (0).__class__  # here `int`, `float` and `bool` are dtypes
_float = (0.5).__class__
_bool = bool

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
newaxis = None
contiguous_format = "torch.contiguous_format"
channels_last = "torch.channels_last"
channels_last_3d = "torch.channels_last_3d"
preserve_format = "torch.preserve_format"


def _at_least(major, minor):
    return tuple(_int(n) for n in __version__.split(".")[:2]) >= (major, minor)


class memory_format:
    pass


class layout:
    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return self._name


strided = layout("torch.strided")


_device_types = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia ort xla lazy vulkan mps meta hpu mtia privateuseone npu"
).split()


class device:
    def __init__(self, type, index=None):
        if isinstance(type, device):
            type, index = type.type, type.index
        elif isinstance(type, _int):
            type, index = "cuda", type
        name = type
        if ":" in type:
            type, _, number = type.partition(":")
            index = _int(number)
        if type not in _device_types:
            raise RuntimeError(
                "Expected one of " + ", ".join(_device_types) + " device type at start of device string: " + name
            )
        self.type = type
        self.index = index

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __str__(self):
        return self.type if self.index is None else self.type + ":" + str(self.index)

    def __repr__(self):
        return "device(type='%s')" % self.type

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


class _ValuesIndices(tuple):
    # What max(dim), sort and topk return.
    @property
    def values(self):
        return self[0]

    @property
    def indices(self):
        return self[1]


_fields = {
    "aminmax": ("min", "max"),
    "svd": ("U", "S", "V"),
    "linalg_svd": ("U", "S", "Vh"),
    "qr": ("Q", "R"),
    "linalg_qr": ("Q", "R"),
    "linalg_eigh": ("eigenvalues", "eigenvectors"),
    "linalg_eig": ("eigenvalues", "eigenvectors"),
    "slogdet": ("sign", "logabsdet"),
    "linalg_slogdet": ("sign", "logabsdet"),
    "linalg_lu": ("P", "L", "U"),
    "linalg_lu_factor": ("LU", "pivots"),
    "linalg_inv_ex": ("inverse", "info"),
    "linalg_cholesky_ex": ("L", "info"),
    "frexp": ("mantissa", "exponent"),
    "lu_unpack": ("P", "L", "U"),
    "linalg_lu_factor_ex": ("LU", "pivots", "info"),
    "linalg_ldl_factor": ("LD", "pivots"),
    "linalg_lstsq": ("solution", "residuals", "rank", "singular_values"),
    "triangular_solve": ("solution", "cloned_coefficient"),
}


class _NamedOutputs(tuple):
    # What linalg.svd and its like return.
    def __getattr__(self, name):
        if name != "_names" and name in self._names:
            return self[self._names.index(name)]
        raise AttributeError("'torch.return_types' object has no attribute '" + name + "'")


def _named(operator, outputs):
    made = _NamedOutputs(outputs)
    made._names = _fields[operator]
    return made


_set_classes(device("cpu"), _ValuesIndices, _named)


class _NoEffect:
    # no_grad, inference_mode, autocast ...: context manager and decorator
    def __init__(self, *args, **kwargs):
        self._function = args[0] if len(args) == 1 and not kwargs and hasattr(args[0], "__call__") else None

    def __new__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs and hasattr(args[0], "__call__") and not isinstance(args[0], type):
            return args[0]
        return object.__new__(cls)

    def __call__(self, function):
        return function

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    @classmethod
    def clone(cls):
        return cls()


class no_grad(_NoEffect):
    pass


class enable_grad(_NoEffect):
    pass


class inference_mode(_NoEffect):
    pass


class set_grad_enabled(_NoEffect):
    pass


class autocast:
    # For 'cuda' nothing changes on a machine without a GPU, where PyTorch says so and goes on.
    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if device_type not in ("cuda", "cpu", "xpu", "hpu", "mps", "meta"):
            raise RuntimeError("User specified autocast device_type must be 'cuda' or 'cpu'")
        self.device = device_type
        self.fast_dtype = dtype if dtype is not None else bfloat16 if device_type == "cpu" else float16
        self._cache_enabled = True if cache_enabled is None else cache_enabled
        # The CPU casts to bfloat16 only, from 2.1 on to float16 too.
        lower = (bfloat16,) if __version__ < "2.1" else (bfloat16, float16)
        self._known = self.fast_dtype in lower
        self._enabled = (True if enabled else False) and device_type == "cpu" and self._known

    def __enter__(self):
        if self.device == "cpu":
            if not self._known and __version__ < "2":
                raise RuntimeError("Currently, AutocastCPU only support Bfloat16 as the autocast_cpu_dtype")
            self._before = _set_autocast(self._enabled, self.fast_dtype, self._cache_enabled)
            _nest_autocast(1)
        return self

    def __exit__(self, *args):
        if self.device == "cpu":
            _nest_autocast(-1)
            _set_autocast(*self._before)

    def __call__(self, function):
        if self.device != "cpu":
            return function
        import functools

        @functools.wraps(function)
        def run(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return run


class Generator:
    def __init__(self, device="cpu"):
        pass

    def manual_seed(self, seed):
        return self


class finfo:
    _table = {
        "torch.float16": (16, 0.0009765625, 65504.0, 6.103515625e-05),
        "torch.bfloat16": (16, 0.0078125, 3.3895313892515355e38, 1.1754943508222875e-38),
        "torch.float32": (32, 1.1920928955078125e-07, 3.4028234663852886e38, 1.1754943508222875e-38),
        "torch.float64": (64, 2.220446049250313e-16, 1.7976931348623157e308, 2.2250738585072014e-308),
        # No tensor here has these types; libraries ask for their ranges.
        "torch.float8_e4m3fn": (8, 0.125, 448.0, 0.015625),
        "torch.float8_e4m3fnuz": (8, 0.125, 240.0, 0.0078125),
        "torch.float8_e5m2": (8, 0.25, 57344.0, 6.103515625e-05),
        "torch.float8_e5m2fnuz": (8, 0.125, 57344.0, 3.0517578125e-05),
    }

    def __init__(self, dtype=float32):
        name = repr(dtype).strip("<>")  # "<torch.float8_e5m2>" is a type that is not covered
        if name not in self._table:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        self.bits, self.eps, self.max, self.tiny = self._table[name]
        self.min = -self.max
        self.smallest_normal = self.tiny
        self.resolution = self.eps if self.bits > 8 else 1.0
        self.dtype = name[6:]


class iinfo:
    _bits = {"torch.int8": 8, "torch.int16": 16, "torch.int32": 32, "torch.int64": 64, "torch.uint8": 8}

    def __init__(self, dtype):
        if repr(dtype) not in self._bits:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        bits = self._bits[repr(dtype)]
        self.bits = bits
        self.max = 2**bits - 1 if repr(dtype) == "torch.uint8" else 2 ** (bits - 1) - 1
        self.min = 0 if repr(dtype) == "torch.uint8" else -(2 ** (bits - 1))


def _check_with(error_type, cond, message):
    if not isinstance(cond, ((True).__class__, Tensor)):  # `bool` is a dtype here
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if not isinstance(cond, Tensor) and not cond:  # what a tensor holds is not known
        if message is None:
            raise error_type("Expected cond to be True, but got False. (Could this error message be improved? If so,")
        raise error_type(str(message()))


def _check(cond, message=None):
    _check_with(RuntimeError, cond, message)


def _check_index(cond, message=None):
    _check_with(IndexError, cond, message)


def _check_value(cond, message=None):
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all(cond, message=None):
    pass


def _check_tensor_all_with(error_type, cond, message=None):
    pass


def _check_is_size(i, message=None, *, max=None):
    _check(i >= 0, message)


def _assert_async(input, assert_msg=""):
    pass


def _tensor_argument(function, value):
    if not isinstance(value, Tensor):
        raise TypeError(
            "%s(): argument 'input' (position 1) must be Tensor, not %s" % (function, value.__class__.__name__)
        )
    return value


def is_tensor(obj):
    return isinstance(obj, Tensor)


def is_floating_point(input):
    return _tensor_argument("is_floating_point", input).is_floating_point()


def is_complex(input):
    return _tensor_argument("is_complex", input).is_complex()


def is_grad_enabled():
    return False


def is_inference_mode_enabled():
    return False


def is_autocast_cache_enabled():
    return True


def get_autocast_gpu_dtype():
    return float16


def _autocast_now():
    now = _set_autocast(False, bfloat16, True)
    _set_autocast(*now)
    return now


def get_autocast_dtype(device_type):
    return get_autocast_cpu_dtype() if device_type == "cpu" else get_autocast_gpu_dtype()


class OutOfMemoryError(RuntimeError):
    pass


_OutOfMemoryError = OutOfMemoryError  # of torch.cuda, in every version


def get_autocast_cpu_dtype():
    return _autocast_now()[1]


def is_autocast_cpu_enabled():
    return _autocast_now()[0]


def is_autocast_enabled(device_type=None):
    # Without an argument it asks about CUDA.
    return device_type == "cpu" and is_autocast_cpu_enabled()


def set_autocast_cpu_enabled(enabled):
    _, dtype, caches = _autocast_now()
    _set_autocast(enabled, dtype, caches)


def set_autocast_cpu_dtype(dtype):
    enabled, _, caches = _autocast_now()
    _set_autocast(enabled, dtype, caches)


def is_anomaly_enabled():
    return False


def get_default_dtype():
    return _get_default_dtype()


def set_default_dtype(d):
    _set_default_dtype(d)


def set_default_tensor_type(t):
    if getattr(t, "_dtype", None) is not None:
        t = t._dtype
    elif isinstance(t, str):
        t = {
            "torch.FloatTensor": float32,
            "torch.cuda.FloatTensor": float32,
            "torch.DoubleTensor": float64,
            "torch.HalfTensor": float16,
            "torch.BFloat16Tensor": bfloat16,
        }.get(t, t)
    _set_default_dtype(t)


def get_num_threads():
    return 1


def set_num_threads(n):
    pass


set_num_interop_threads = set_flush_denormal = set_deterministic = set_vital = set_num_threads
get_num_interop_threads = get_num_threads


def manual_seed(seed):
    return Generator()


def seed():
    return 0


def initial_seed():
    return 0


def get_rng_state():
    return zeros(5056, dtype=uint8)


def set_rng_state(state):
    pass


def set_printoptions(*args, **kwargs):
    pass


def use_deterministic_algorithms(*args, **kwargs):
    pass


def are_deterministic_algorithms_enabled():
    return False


is_deterministic_algorithms_warn_only_enabled = are_deterministic_algorithms_enabled


def set_float32_matmul_precision(precision):
    pass


def get_float32_matmul_precision():
    return "highest"


def _assert(condition, message):
    if type(condition).__name__ in ("Proxy", "Attribute"):
        return condition.tracer.create_proxy("call_function", _assert, (condition, message), {})
    assert condition, message


def numel(input):
    return input.numel()


def _stand_in(v):
    # A constant of the same type and as many dimensions: what promotion looks at.
    return zeros((1,) * v.dim(), dtype=v.dtype) if is_tensor(v) else v


def result_type(tensor1, tensor2):
    if not is_tensor(tensor1) and not is_tensor(tensor2):
        tensor1 = tensor(tensor1)
    return (_stand_in(tensor1) + _stand_in(tensor2)).dtype


def promote_types(a, b):
    return (zeros((1,), dtype=a) + zeros((1,), dtype=b)).dtype


def broadcast_shapes(*shapes):
    out = zeros(())
    for shape in shapes:
        out = out + zeros(shape if not isinstance(shape, _int) else (shape,))
    return out.shape


def _proxied(function, args, kwargs):
    # The node of torch.fx for a function that is written in Python here; None if no argument is a
    # proxy.
    for v in args:
        if type(v).__name__ in ("Proxy", "Attribute"):
            return v.tracer.create_proxy("call_function", function, args, kwargs)


def tensordot(a, b, dims=2, out=None):
    node = _proxied(tensordot, (a, b), {"dims": dims, "out": out})
    if node is not None:
        return node
    if is_tensor(dims):
        dims = dims.tolist()
    if isinstance(dims, _int):
        return _tensordot(a, b, dims=dims)
    first, second = dims
    first = [first] if isinstance(first, _int) else list(first)
    second = [second] if isinstance(second, _int) else list(second)
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    return _tensordot(a, b, axes=first + second)


def _periodic(n, periodic):
    return n if periodic else n - 1


def _check_window(name, dtype):
    if dtype is not None and not dtype.is_floating_point and not dtype.is_complex:
        raise RuntimeError("{} expects floating point dtypes, got: {}".format(name, dtype))


def _cosine_window(n, periodic, coefficients, kwargs):
    if n <= 1:
        return ones(n, **kwargs)
    x = arange(n, **{"dtype": float32, **kwargs}) * (2 * math.pi / _periodic(n, periodic))
    window = 0
    for k, a in enumerate(coefficients):
        window = window + a * cos(k * x)
    return window


def hann_window(window_length, periodic=True, **kwargs):
    _check_window("hann_window", kwargs.get("dtype"))
    return _cosine_window(window_length, periodic, (0.5, -0.5), kwargs)


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, **kwargs):
    _check_window("hamming_window", kwargs.get("dtype"))
    return _cosine_window(window_length, periodic, (alpha, -beta), kwargs)


def blackman_window(window_length, periodic=True, **kwargs):
    _check_window("blackman_window", kwargs.get("dtype"))
    return _cosine_window(window_length, periodic, (0.42, -0.5, 0.08), kwargs)


def bartlett_window(window_length, periodic=True, **kwargs):
    _check_window("bartlett_window", kwargs.get("dtype"))
    n = _periodic(window_length, periodic)
    if window_length <= 1:
        return ones(window_length, **kwargs)
    x = arange(window_length, **{"dtype": float32, **kwargs}) * (2 / n)
    return where(x <= 1, x, 2 - x)


def kaiser_window(window_length, periodic=True, beta=12.0, **kwargs):
    _check_window("kaiser_window", kwargs.get("dtype"))
    if window_length <= 1:
        return ones(window_length, **kwargs)
    half = _periodic(window_length, periodic) / 2
    x = (arange(window_length, **{"dtype": float32, **kwargs}) - half) / half
    return i0(beta * sqrt(clamp(1 - x * x, min=0))) / i0(tensor([_float(beta)], dtype=x.dtype))


def logspace(start, end, steps=100, base=10.0, **kwargs):
    made = base ** linspace(start, end, steps, **kwargs)
    return made if kwargs.get("dtype") is None else made.to(kwargs["dtype"])


def range(start=0, end=None, step=1, **kwargs):
    if end is None:
        start, end = 0, start
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    dtype = kwargs.get("dtype")
    if dtype is not None and not dtype.is_floating_point and not dtype.is_complex:
        start, end, step = math.trunc(start), math.trunc(end), math.trunc(step)
        return arange(start, end + (1 if step > 0 else -1), step, **kwargs)
    end = start + ((end - start) // step + 0.5) * step
    return arange(start, end, step, **{"dtype": float32, **kwargs})


def empty_strided(size, stride, **kwargs):
    return empty(size, **kwargs)


_table_normal = normal


def normal(mean, std=1.0, size=None, **kwargs):
    if not is_tensor(std) and std < 0:
        raise RuntimeError("normal expects std >= 0.0, but found std " + str(std))
    if size is not None:
        kwargs.pop("generator", None)
        return randn(size, **kwargs)
    if is_tensor(mean):
        return _table_normal(mean, std)
    return _table_normal(zeros(std.shape, dtype=std.dtype) + mean, std)


def is_storage(obj):
    return False


def is_same_size(input, other):
    return input.shape == other.shape


def is_signed(input):
    return input.dtype not in (uint8, _bool)


def is_conj(input):
    return input.is_conj()


def is_neg(input):
    return False


def is_inference(input):
    return False


def can_cast(from_, to):
    def level(dtype):
        return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype == _bool else 1

    return level(to) >= level(from_) and not (to == uint8 and level(from_) == 1 and from_ != uint8)


def is_warn_always_enabled():
    return False


def set_warn_always(b):
    pass


def typename(o):
    if isinstance(o, Tensor):
        return o.type()
    return "%s.%s" % (type(o).__module__, type(o).__qualname__)


def compiled_with_cxx11_abi():
    return True


def compile(model=None, **kwargs):
    return model if model is not None else lambda m: m


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    import functorch

    return functorch.vmap(func, in_dims, out_dims, randomness, chunk_size=chunk_size)


def load(*args, **kwargs):
    from torch.serialization import load

    return load()


def save(*args, **kwargs):
    pass


class _TensorType(type):
    # torch.FloatTensor and its like: makes tensors of its type, and every tensor of that type is an
    # instance.
    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and isinstance(args[0], Size):
            return empty(args[0], dtype=cls._dtype)
        if len(args) == 1 and not isinstance(args[0], _int):
            return tensor(args[0], dtype=cls._dtype)
        return empty(args, dtype=cls._dtype)

    def __instancecheck__(cls, value):
        return is_tensor(value) and not cls._cuda and value.dtype == cls._dtype


def _tensor_type(name, cuda=False):
    dtype = {
        "Float": float32,
        "Half": float16,
        "BFloat16": bfloat16,
        "Double": float64,
        "Long": int64,
        "Int": int32,
        "Short": int16,
        "Char": int8,
        "Byte": uint8,
        "Bool": bool,
    }[name]
    return _TensorType(
        name + "Tensor",
        (),
        {"__module__": "torch.cuda" if cuda else "torch", "_dtype": dtype, "_cuda": cuda, "dtype": dtype},
    )


FloatTensor, HalfTensor, BFloat16Tensor = _tensor_type("Float"), _tensor_type("Half"), _tensor_type("BFloat16")
DoubleTensor, LongTensor, IntTensor = _tensor_type("Double"), _tensor_type("Long"), _tensor_type("Int")
ShortTensor, CharTensor, ByteTensor, BoolTensor = (
    _tensor_type("Short"),
    _tensor_type("Char"),
    _tensor_type("Byte"),
    _tensor_type("Bool"),
)


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    node = _proxied(lstm_cell, (input, hx, w_ih, w_hh, b_ih, b_hh), {})
    if node is not None:
        return node
    return _lstm_cell(input, hx[0], hx[1], w_ih, w_hh, b_ih, b_hh)


def _recurrent(name):
    def call(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        states = tuple(hx) if name == "lstm" else (hx,)
        more = (has_biases, num_layers, dropout, bidirectional, batch_first)
        return _rnn(name, input, states, params, *more, training=train)

    return call


lstm, gru, rnn_tanh, rnn_relu = (_recurrent(name) for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"))


class return_types:
    max = min = sort = topk = median = mode = kthvalue = cummax = cummin = nanmedian = _ValuesIndices


def set_default_device(device):
    pass


def get_default_device():
    return device("cpu")


def get_device(input):
    return input.get_device()


def sparse_coo_tensor(
    indices, values=None, size=None, *, dtype=None, device=None, requires_grad=False, check_invariants=None, **kwargs
):
    from torch._refused import _Sparse

    if size is None:
        _unsupported("torch.sparse_coo_tensor() without a size")
    given = values.dtype if is_tensor(values) else None
    return _Sparse(empty(tuple(size), dtype=given if dtype is None else dtype), is_known=False)


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, **kwargs):
    return sparse_coo_tensor(col_indices, values, size, **kwargs)


sparse_csc_tensor = sparse_csr_tensor


class _TorchVersion(str):
    # torch.__version__ compares as a version: '1.13.1' >= '1.5.0'.
    def _compare(self, other, operation):
        from packaging.version import InvalidVersion, Version

        if isinstance(other, (tuple, list)):
            other = ".".join(map(str, other))
        try:
            return getattr(Version(self), operation)(other if isinstance(other, Version) else Version(str(other)))
        except InvalidVersion:
            return getattr(str(self), operation)(str(other))

    def __lt__(self, other):
        return self._compare(other, "__lt__")

    def __le__(self, other):
        return self._compare(other, "__le__")

    def __gt__(self, other):
        return self._compare(other, "__gt__")

    def __ge__(self, other):
        return self._compare(other, "__ge__")

    def __eq__(self, other):
        return self._compare(other, "__eq__")

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


__version__ = _TorchVersion(__version__)
meshgrid.__kwdefaults__ = {"indexing": None}  # PyTorch's is a function in Python: einx asks it for its arguments

_overridable("torch", globals())


class _VF:
    lstm, gru, rnn_tanh, rnn_relu = map(staticmethod, (lstm, gru, rnn_tanh, rnn_relu))
    lstm_cell = staticmethod(lstm_cell)
    gru_cell = staticmethod(gru_cell)
    rnn_tanh_cell = staticmethod(rnn_tanh_cell)
    rnn_relu_cell = staticmethod(rnn_relu_cell)


_hide_later("torch", globals())
