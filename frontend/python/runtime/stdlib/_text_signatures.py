# The signatures that built-in functions, classes and methods of CPython 3.11 have: {signature:
# names}.
import _cobra

_KNOWN = {
    "()": "globals locals object",
    "(*args, sep=' ', end='\\n', file=None, flush=False)": "print",
    "(async_iterable, /)": "aiter",
    "(base, exp, mod=None)": "pow",
    "(bytes, byteorder='big', *, signed=False)": "int.from_bytes",
    "(c, /)": "ord",
    "(cls, class_or_tuple, /)": "issubclass",
    "(fget=None, fset=None, fdel=None, doc=None)": "property",
    "(file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None)": "open",
    "(frm, to, /)": "bytearray.maketrans bytes.maketrans",
    "(i, /)": "chr",
    "(iterable, /)": "all any",
    "(iterable, /, *, key=None, reverse=False)": "sorted",
    "(iterable, /, start=0)": "sum",
    "(iterable, start=0)": "enumerate",
    "(iterable, value=None, /)": "dict.fromkeys",
    "(iterable=(), /)": "list tuple",
    "(name, globals=None, locals=None, fromlist=(), level=0)": "__import__",
    "(number, /)": "bin hex oct",
    "(number, ndigits=None)": "round",
    "(obj, /)": "ascii callable hash id len repr",
    "(obj, class_or_tuple, /)": "isinstance",
    "(obj, name, /)": "delattr hasattr",
    "(obj, name, value, /)": "setattr",
    "(object)": "memoryview",
    "(prompt='', /)": "input",
    "(real=0, imag=0)": "complex",
    "(self, /)": "bytearray.clear bytearray.copy bytearray.reverse complex.conjugate dict.popitem "
    "float.as_integer_ratio float.conjugate float.hex float.is_integer int.as_integer_ratio int.bit_count "
    "int.bit_length list.clear list.copy list.reverse memoryview.release memoryview.tolist "
    "memoryview.toreadonly str.capitalize str.casefold str.isalnum str.isalpha str.isascii str.isdecimal "
    "str.isdigit str.isidentifier str.islower str.isnumeric str.isprintable str.isspace str.istitle "
    "str.isupper str.lower str.swapcase str.title str.upper type.mro",
    "(self, /, *, key=None, reverse=False)": "list.sort",
    "(self, /, encoding='utf-8', errors='strict')": "bytearray.decode bytes.decode str.encode",
    "(self, /, keepends=False)": "bytearray.splitlines bytes.splitlines str.splitlines",
    "(self, /, length=1, byteorder='big', *, signed=False)": "int.to_bytes",
    "(self, /, order='C')": "memoryview.tobytes",
    "(self, /, sep=None, maxsplit=-1)": "bytearray.rsplit bytearray.split bytes.rsplit bytes.split str.rsplit str.split",
    "(self, /, tabsize=8)": "bytearray.expandtabs bytes.expandtabs str.expandtabs",
    "(self, bytes=None, /)": "bytearray.lstrip bytearray.rstrip bytearray.strip bytes.lstrip bytes.rstrip bytes.strip",
    "(self, chars=None, /)": "str.lstrip str.rstrip str.strip",
    "(self, index, item, /)": "bytearray.insert",
    "(self, index, object, /)": "list.insert",
    "(self, index=-1, /)": "bytearray.pop list.pop",
    "(self, item, /)": "bytearray.append",
    "(self, iterable, /)": "list.extend str.join",
    "(self, iterable_of_bytes, /)": "bytearray.join bytes.join",
    "(self, iterable_of_ints, /)": "bytearray.extend",
    "(self, key, default=None, /)": "dict.get dict.setdefault",
    "(self, object, /)": "list.append",
    "(self, old, new, count=-1, /)": "bytearray.replace bytes.replace str.replace",
    "(self, prefix, /)": "bytearray.removeprefix bytes.removeprefix str.removeprefix",
    "(self, sep, /)": "bytearray.partition bytearray.rpartition bytes.partition bytes.rpartition str.partition "
    "str.rpartition",
    "(self, suffix, /)": "bytearray.removesuffix bytes.removesuffix str.removesuffix",
    "(self, table, /)": "str.translate",
    "(self, table, /, delete=b'')": "bytearray.translate bytes.translate",
    "(self, value, /)": "bytearray.remove list.count list.remove tuple.count",
    "(self, value, start=0, stop=9223372036854775807, /)": "list.index tuple.index",
    "(self, width, /)": "bytearray.zfill bytes.zfill str.zfill",
    "(self, width, fillchar=' ', /)": "str.center str.ljust str.rjust",
    "(self, width, fillchar=b' ', /)": "bytearray.center bytearray.ljust bytearray.rjust bytes.center bytes.ljust bytes.rjust",
    "(sequence, /)": "reversed",
    "(source, filename, mode, flags=0, dont_inherit=False, optimize=-1, *, _feature_version=-1)": "compile",
    "(source, globals=None, locals=None, /)": "eval",
    "(source, globals=None, locals=None, /, *, closure=None)": "exec",
    "(string, /)": "bytearray.fromhex bytes.fromhex float.fromhex",
    "(value, format_spec='', /)": "format",
    "(x, /)": "abs",
    "(x, y, /)": "divmod",
    "(x=0, /)": "float",
}
_SLOTS = {
    "(self, /, *args, **kwargs)": "__init__ __call__",
    "(self, /)": "__abs__ __bool__ __float__ __hash__ __index__ __int__ __invert__ __iter__ __len__ __neg__ __next__ "
    "__pos__ __repr__ __str__",
    "(self, value, /)": "__add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __le__ __lt__ __matmul__ __mod__ __mul__ __ne__ "
    "__or__ __sub__ __truediv__ __xor__",
}

# Of these places, what is Python's there and has a signature; and what is built in and has none.
_PYTHONS = {
    "torch": "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist chain_matmul "
    "compile compiled_with_cxx11_abi cond eig einsum from_dlpack get_default_device get_device_module get_file_path "
    "get_float32_matmul_precision get_rng_state initial_seed is_storage is_tensor load lobpcg lstsq lu manual_seed matrix_rank "
    "meshgrid norm pca_lowrank save seed set_default_device set_default_dtype set_default_tensor_type "
    "set_deterministic_debug_mode set_float32_matmul_precision set_printoptions set_rng_state set_warn_always solve split stft "
    "svd_lowrank sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum symeig tensordot typename unique "
    "unique_consecutive unravel_index use_deterministic_algorithms vmap while_loop",
    "Tensor": "backward dim_order eig index is_shared istft lstsq lu module_load norm register_hook "
    "register_post_accumulate_grad_hook reinforce resize resize_as share_memory_ solve split stft storage storage_type symeig "
    "to_sparse_coo unflatten unique unique_consecutive",
    "torch.linalg": "",
    "torch.fft": "",
    "torch.special": "",
}
_BUILT_IN = {
    "torch.nn.functional": "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear celu_ channel_shuffle conv1d conv2d "
    "conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu hardshrink hardtanh_ "
    "leaky_relu_ linear logsigmoid native_channel_shuffle one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu "
    "relu_ rrelu_ scaled_dot_product_attention selu_ softplus softshrink threshold_"
}


def _has_none(place, name):
    if place in _PYTHONS:
        return name not in _PYTHONS[place].split()
    return name in _BUILT_IN.get(place, "").split()


def _found(table, name):
    for signature, names in table.items():
        if name in names.split():
            return signature


def of(obj):
    """Its text; None if CPython has none either. What is not built in there is refused."""
    name = getattr(obj, "__qualname__", obj.__name__)
    owner, _, method = name.rpartition(".")
    if method.startswith("__") and not isinstance(obj, type):
        if owner == "_ModuleBase" and method in ("__init__", "__call__"):
            return "(self, *args, **kwargs)"
        found = _found(_SLOTS, method)
        if found is not None:
            return found
    elif name == "_ModuleBase":
        return "(*args, **kwargs)"
    elif getattr(obj, "__module__", None) == "builtins" or hasattr(_builtins, owner):
        return _found(_KNOWN, name)
    place = getattr(obj, "__module__", None)
    if not isinstance(obj, type) and not method.startswith("__") and _has_none(owner or place, method):
        return None
    _cobra.unsupported(f"inspect.signature() of {place + '.' if place else ''}{name}")


import builtins as _builtins
