#!/usr/bin/python3
"""Records what real PyTorch runs for the models of MODELS and writes goldens/NAME.json.gz, which
graph_equality_test.py and tests/graph/replay_test.cc compare with.

    make_goldens.py [NAME...]     needs python3-torch 1.13 and python3-torchvision 0.14

A golden: name, call, file (inside the library or models/), library, inputs, params, param_shapes,
buffer_shapes, buffer_dtypes, ops, output, macs. One record of ops per call of a torch function from
Python: op, kind (view, alias, create, const; absent = computes), src {argument: source}, args
{argument: value}, out [shapes], dtype (unless all float32), inplace, mod (module path). A source is
a record number, [record, output], "in:i", "p:NAME", "b:NAME", "c", or a list of those."""
import gzip
import importlib
import inspect
import io
import json
import numbers
import os
import re
import sys

os.environ["PYTORCH_JIT"] = "0"
import torch
from torch.overrides import TorchFunctionMode, resolve_name

import golden_macs

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "../../../../frontend/python/library")
IMAGE = [[1, 3, 224, 224]]
TV = "torchvision.models."
# name: (module, call, inputs); models/x.py are ours
MODELS = {
    "resnet18": (TV + "resnet", "resnet18(num_classes=10)", IMAGE),
    "resnet50_batch4": (TV + "resnet", "resnet50()", [[4, 3, 160, 128]]),
    "resnext50_32x4d": (TV + "resnet", "resnext50_32x4d()", IMAGE),
    "wide_resnet50_2": (TV + "resnet", "wide_resnet50_2()", IMAGE),
    "vgg11": (TV + "vgg", "vgg11()", IMAGE),
    "vgg13_bn": (TV + "vgg", "vgg13_bn()", IMAGE),
    "mobilenet_v2": (TV + "mobilenetv2", "mobilenet_v2()", IMAGE),
    "mobilenet_v3_small": (TV + "mobilenetv3", "mobilenet_v3_small()", IMAGE),
    "densenet121": (TV + "densenet", "densenet121()", IMAGE),
    "squeezenet1_0": (TV + "squeezenet", "squeezenet1_0()", IMAGE),
    "squeezenet1_1": (TV + "squeezenet", "squeezenet1_1(num_classes=7)", [[2, 3, 192, 192]]),
    "alexnet": (TV + "alexnet", "alexnet()", IMAGE),
    "googlenet": (TV + "googlenet", "googlenet(init_weights=False)", IMAGE),
    "efficientnet_b0": (TV + "efficientnet", "efficientnet_b0()", IMAGE),
    "shufflenet_v2_x0_5": (TV + "shufflenetv2", "shufflenet_v2_x0_5()", IMAGE),
    "mnasnet0_5": (TV + "mnasnet", "mnasnet0_5()", IMAGE),
    "vit_b_32": (TV + "vision_transformer", "vit_b_32()", IMAGE),
    "convnext_tiny": (TV + "convnext", "convnext_tiny()", IMAGE),
    "swin_t": (TV + "swin_transformer", "swin_t()", IMAGE),
    "regnet_y_400mf": (TV + "regnet", "regnet_y_400mf()", IMAGE),
    "inception_v3": (TV + "inception", "inception_v3(init_weights=False)", [[1, 3, 299, 299]]),
    "lraspp": (TV + "segmentation.lraspp", "lraspp_mobilenet_v3_large(weights_backbone=None)", [[1, 3, 128, 128]]),
    "r3d_18": (TV + "video.resnet", "r3d_18()", [[1, 3, 8, 112, 112]]),
    "raft_small": (TV + "optical_flow.raft", "raft_small()", [[1, 3, 128, 128], [1, 3, 128, 128]]),
    "plain": ("plain", "Plain()", [[2, 3, 32, 32]]),
    "tensors": ("tensors", "Tensors(8)", [[2, 8, 16]]),
    "sharing": ("sharing", "Sharing(16)", [[1, 4, 16]]),
    "structure": ("structure", "Structure(8)", [[2, 3, 8]]),
    "rearranging": ("rearranging", "Rearranging()", [[2, 3, 32, 32]]),
    "maxvit_t": (TV + "maxvit", "maxvit_t()", IMAGE),
    "s3d": (TV + "video.s3d", "s3d()", [[1, 3, 16, 224, 224]]),
    "deeplabv3": (
        TV + "segmentation.deeplabv3",
        "deeplabv3_mobilenet_v3_large(weights_backbone=None)",
        [[1, 3, 128, 128]],
    ),
    "retinanet_backbone": (
        TV + "detection.retinanet",
        "retinanet_resnet50_fpn(weights_backbone=None).backbone",
        [[1, 3, 256, 256]],
    ),
    "recurrent": ("recurrent", "Recurrent(12, 20)", [[3, 5, 12]]),
    "packing": ("packing", "Packing(6, 8, [3, 5, 2])", [[3, 5, 6]]),
    "frameworks": ("frameworks", "Frameworks()", [[2, 3, 9, 9]]),
    # examples/: the calls that their documentation shows. A tuple of shapes is one argument, a list
    # of tensors.
    "example_convnet": ("examples.convnet", 'ConvNet(ConvNetConfig.named("s").scaled(depth=1.2))', [[1, 3, 192, 192]]),
    "example_detection_neck": (
        "examples.detection_neck",
        "Detector(inputs=(64, 160, 400))",
        [([1, 64, 64, 64], [1, 160, 32, 32], [1, 400, 16, 16])],
    ),
    "example_diffusion_transformer": (
        "examples.diffusion_transformer",
        "build('small')",
        [[1, 4, 32, 32], [1], [1, 32, 512], [1, 512]],
    ),
    "example_gpt": ("examples.gpt", "GPT(GPTConfig(layers=6))", ["1x256:int64"]),
    "example_unet": ("examples.unet", "UNet(width=64)", [[1, 3, 64, 64], [1]]),
}

OPERATORS = {
    "iadd": "add",
    "isub": "sub",
    "imul": "mul",
    "itruediv": "div",
    "ifloordiv": "floor_divide",
    "ipow": "pow",
    "imatmul": "matmul",
    "radd": "add",
    "rmul": "mul",
    "rtruediv": "rdiv",
    "rdiv": "rdiv",
    "truediv": "div",
    "floordiv": "floor_divide",
    "invert": "bitwise_not",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "mod": "remainder",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
    "iter": "unbind",
    "rfloordiv": "rfloor_divide",
}
SYNONYMS = {
    "subtract": "sub",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "negative": "neg",
    "absolute": "abs",
    "concat": "cat",
    "concatenate": "cat",
    "clip": "clamp",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "moveaxis": "movedim",
    "less": "lt",
    "greater": "gt",
}
VIEWS = set(
    """view reshape flatten unflatten permute transpose t T mT H mH chunk split split_with_sizes tensor_split unbind getitem select narrow squeeze unsqueeze
expand expand_as view_as reshape_as movedim diagonal as_strided view_as_real view_as_complex real imag ravel broadcast_to broadcast_tensors adjoint
tensor_unfold data detach alias contiguous""".split()
)
QUESTIONS = set(
    """size dim numel nelement ndimension stride is_contiguous is_floating_point is_complex element_size storage_offset data_ptr
requires_grad_ __len__ __format__ __repr__ __hash__ is_tensor result_type _assert get_device""".split()
)
NO_ATTRIBUTE = set(
    """training train momentum inplace _stacklevel out device layout pin_memory requires_grad non_blocking copy memory_format
cudnn_enabled cudnn_enable use_input_stats generator implicit sparse_grad""".split()
)
SPATIAL = ("stride", "padding", "dilation", "kernel_size", "output_padding", "output_size")
# What they give is drawn while the network runs.
RANDOM = set(
    "rand randn randint randperm rand_like randn_like randint_like uniform normal bernoulli multinomial exponential".split()
)
VALUES = set("item __bool__ __int__ __float__ __index__ tolist nonzero".split())


def plain(v):
    if isinstance(v, (list, tuple)):
        return [plain(e) for e in v]
    if hasattr(v, "tolist") and not isinstance(v, torch.Tensor):  # a number of numpy's
        return v.tolist()
    if isinstance(v, float) and v in (float("inf"), float("-inf")):
        return str(v)
    return str(v)[6:] if isinstance(v, torch.dtype) else v


def size_of_new(args):
    """x.new(2, 3), x.new(torch.Size((2, 3))), x.new([[1, 2, 3], [4, 5, 6]])"""
    if len(args) != 1 or isinstance(args[0], int):
        return list(args) or [0]
    size, data = [], args[0]
    while not isinstance(data, torch.Size) and isinstance(data, (list, tuple)):
        size.append(len(data))
        data = data[0] if data else None
    return size + (list(data) if isinstance(data, torch.Size) else [])


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_in(v)]
    return []


def name_of(func):
    name = getattr(func, "__name__", None)
    if name == "__get__":
        return "get:" + func.__self__.__name__
    if name in ("__set__", "__delete__"):
        return "get:set"
    if name is None or name == "boolean_dispatch":
        name = (resolve_name(func) or str(func)).split(".")[-1]
    name = re.sub("_with_indices$", "", name)
    return name[1:] if re.match("_(max_pool|adaptive)", name) else name


def accepts(value, kind):
    """Whether a schema's argument type takes the value."""
    if kind.startswith("Optional["):
        return value is None or accepts(value, kind[9:-1])
    if kind.startswith("List["):
        return isinstance(value, (list, tuple)) and all(accepts(v, kind[5:-1]) for v in value)
    if kind == "Tensor":
        return isinstance(value, torch.Tensor)
    if kind in ("number", "Scalar", "float"):
        return isinstance(value, numbers.Real)
    if kind == "int":
        return isinstance(value, (numbers.Integral, torch.dtype)) and not isinstance(value, bool)
    return isinstance(value, {"bool": bool, "str": str}.get(kind, object))


def bind_schema(schema, args, kwargs):
    got, left = {}, list(args)
    for a in schema.arguments:
        kind = str(a.type)
        listed = "List[int]" in kind
        if left and not a.kwarg_only:
            value = left.pop(0)
            if listed and type(value) is int and a.N is None:
                value = [value] + left
                left = []
        elif a.name in kwargs:
            value = kwargs[a.name]
        elif a.has_default_value():
            value = a.default_value
        else:
            return None
        if listed and type(value) is int:
            value = [value] * (a.N or 1)
        if not accepts(value, kind):
            return None
        got[a.name] = value
    known = {a.name for a in schema.arguments}
    return None if left or any(k not in known and k not in NO_ATTRIBUTE for k in kwargs) else got


class Recorder(TorchFunctionMode):
    def __init__(self, model, inputs):
        super().__init__()
        self.ops, self.macs, self.stack, self.const, self.busy, self.keep = [], 0, [""], set(), False, []
        self.source = {id(t): "in:%d" % i for i, t in enumerate(tensors_in(inputs))}
        for prefix, named in (("p:", model.named_parameters()), ("b:", model.named_buffers())):
            for name, t in named:
                self.source.setdefault(id(t), prefix + name)
        self.paths, self.modules = {}, list(model.modules())  # a module that is replaced while it runs must keep its id
        for name, module in model.named_modules():
            self.paths.setdefault(id(module), name)

    def src(self, t):
        return self.source.get(id(t), "c")

    def folded(self, s):
        return (
            s == "c" or s.startswith("b:") if isinstance(s, str) else (s[0] if isinstance(s, list) else s) in self.const
        )

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.busy:
            return func(*args, **kwargs)
        self.busy = True
        try:
            return self.record(func, args, kwargs)
        finally:
            self.busy = False

    def record(self, func, args, kwargs):
        raw = name = name_of(func)
        if name.startswith("get:"):
            name = name[4:]
            if name not in ("T", "mT", "H", "mH", "data", "real", "imag"):
                return func(*args, **kwargs)
        if raw in QUESTIONS or raw in VALUES:
            return func(*args, **kwargs)
        inplace = kwargs.get("inplace") is True
        if re.fullmatch("__.*__", name):
            inner = name[2:-2]
            inplace = inner == "setitem" or (
                inner[0] == "i" and inner[1:] in ("add", "sub", "mul", "truediv", "floordiv", "pow", "and", "or")
            )
            name = OPERATORS.get(inner, inner)
        elif name.endswith("_"):
            name, inplace = name[:-1], True
        name = SYNONYMS.get(name, name)
        if name == "unfold" and not inspect.isfunction(func):
            name = "tensor_unfold"
        rec, flags = self.describe(func, raw, name, args, kwargs)
        inplace = inplace or flags
        given = tensors_in(list(args) + list(kwargs.values()))
        sources = [self.src(t) for t in given]
        result, macs = golden_macs.run(name, func, args, kwargs)
        outs = [args[0]] if name == "setitem" else tensors_in(result)
        if not outs:
            return result
        const = bool(sources) and all(self.folded(s) for s in sources) and name != "bernoulli"  # drawn while it runs
        several = isinstance(result, (list, tuple)) and name != "setitem"
        if not sources or re.fullmatch(r"new_\w+|\w+_like", name):
            rec["kind"] = "create"
        elif const:
            rec["kind"] = "const"
        elif (
            not several
            and any(outs[0] is t for t in given)
            and (not inplace or ("dropout" in name and not rec["args"].get("training")))
        ):
            rec["kind"] = "alias"
        elif name in VIEWS and "index0" not in rec["src"]:
            rec["kind"] = "view"
        if name == "_pack_padded_sequence":
            rec["args"]["batch_sizes"] = result[1].tolist()
        rec["out"] = [list(t.shape) for t in outs]
        if any(t.dtype != torch.float32 for t in outs):
            rec["dtype"] = [plain(t.dtype) for t in outs]
        if inplace and rec.get("kind") != "alias":
            rec["inplace"] = True
        rec["mod"] = self.stack[-1]
        self.macs += golden_macs.of_call(name, rec, given, outs) if macs is None else macs
        number = len(self.ops)
        self.ops.append(rec)
        if rec.get("kind") == "alias":
            return result
        constant = rec.get("kind") in ("create", "const") and name not in RANDOM
        (self.const.add if constant else self.const.discard)(number)
        self.keep += outs  # so that an id means one tensor
        for j, t in enumerate(outs):
            self.source[id(t)] = [number, j] if several else number
        if inplace and given[0]._base is not None:
            self.source[id(given[0]._base)] = number
        return result

    def describe(self, func, raw, name, args, kwargs):
        """(record with op, src, args; whether an argument says inplace)"""
        rec = {"op": name, "src": {}, "args": {}}
        if name in ("getitem", "setitem"):
            rec["src"]["input"] = self.src(args[0])
            text = []
            for e in args[1] if isinstance(args[1], tuple) else (args[1],):
                if isinstance(e, torch.Tensor):
                    n = sum(k.startswith("index") for k in rec["src"])
                    rec["src"]["index%d" % n] = self.src(e)
                    text.append("T%d" % n)
                elif isinstance(e, slice):
                    text.append(
                        ":".join("" if v is None else str(int(v)) for v in (e.start, e.stop))
                        + ("" if e.step is None else ":%d" % e.step)
                    )
                else:
                    text.append("..." if e is Ellipsis else str(plain(e)))
            rec["args"]["index"] = ", ".join(text)
            if name == "setitem":
                if isinstance(args[2], torch.Tensor):
                    rec["src"]["value"] = self.src(args[2])
                else:
                    rec["args"]["value"] = args[2]
            return rec, False
        bound, inplace = self.bind(func, raw, name, args, kwargs), False
        for key, value in bound.items():
            key = "input" if key == "self" else key
            inplace = inplace or (key == "inplace" and value is True)
            if tensors_in(value):
                rec["src"][key] = [self.src(t) for t in value] if isinstance(value, (list, tuple)) else self.src(value)
            elif (
                key not in NO_ATTRIBUTE
                and value is not None
                and not (key == "alpha" and value == 1 and name not in ("elu", "celu"))
            ):
                rec["args"][key] = plain(value)
        if name == "cdist" and rec["args"].get("compute_mode") == "use_mm_for_euclid_dist_if_necessary":
            rec["args"].pop("compute_mode")  # the default
        if name == "multi_head_attention_forward":
            rec["args"].pop("is_causal", None)  # of PyTorch 2: what the mask says already
        # packed: their values too, and in recurrent calls the tensor of them after the weights
        if "batch_sizes" in bound:
            rec["args"]["batch_sizes"] = bound["batch_sizes"].tolist()
            if name != "_pad_packed_sequence":
                rec["src"]["input"] = rec["src"].pop("data")
                rec["src"] = {key: rec["src"][key] for key in ("input", "hx", "params", "batch_sizes")}
        dims = re.search(r"(?:conv|conv_transpose|pool)(\d)d$", name)
        dims = int(dims.group(1)) if dims else 2 if name in ("unfold", "fold") else 0
        if dims:
            a = rec["args"]
            if "kernel_size" in a and "pool" in name and not a.get("stride"):
                a["stride"] = a["kernel_size"]
            for key in SPATIAL:
                if key in a:
                    a[key] = [a[key]] * dims if type(a[key]) is int else a[key] * dims if len(a[key]) == 1 else a[key]
        return rec, inplace

    def bind(self, func, raw, name, args, kwargs):
        kwargs = {{"axis": "dim", "keepdims": "keepdim"}.get(key, key): value for key, value in kwargs.items()}
        if inspect.isfunction(func) and raw not in ("__rsub__", "__rdiv__", "__rpow__", "split"):
            try:
                signature = inspect.signature(inspect.unwrap(func))
            except ValueError:  # a wrapped built-in
                signature = None
            if signature and not any(p.kind == p.VAR_POSITIONAL for p in signature.parameters.values()):
                b = signature.bind(*args, **kwargs)
                b.apply_defaults()
                return b.arguments
        if name in ("rsub", "rdiv", "rpow"):
            return {"input": args[0], "other": args[1]}
        if re.fullmatch("max_pool.d", name):
            d = dict(kernel_size=None, stride=None, padding=0, dilation=1, ceil_mode=False)
            d.update(zip(d, args[1:]))
            d.update({k: v for k, v in kwargs.items() if k in d})
            return {"input": args[0], **d}
        if re.fullmatch("adaptive_max_pool.d", name):
            sizes = args[1] if len(args) > 1 else kwargs["output_size"]
            sizes = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes] * int(name[-2])
            return {"input": args[0], "output_size": [-1 if size is None else size for size in sizes]}
        if name == "meshgrid":
            return {"tensors": list(args[0]) if isinstance(args[0], (list, tuple)) else list(args), **kwargs}
        if name == "new":
            return {"input": args[0], "size": size_of_new(args[1:])}
        if name == "einsum":
            return {
                "equation": args[0],
                "operands": list(args[1]) if isinstance(args[1], (list, tuple)) else list(args[1:]),
            }
        if name in ("to", "type", "type_as", "float", "half", "double", "long", "int", "bool"):
            d = {"input": args[0]}
            for v in list(args[1:]) + list(kwargs.values()):
                if isinstance(v, (torch.dtype, torch.Tensor)):
                    d["dtype" if isinstance(v, torch.dtype) else "other"] = v
            return d
        for schema in torch._C._jit_get_schemas_for_operator("aten::" + name):
            if any(a.is_out for a in schema.arguments) or "Dimname" in str(schema):
                continue
            bound = bind_schema(schema, args, kwargs)
            if bound is not None:
                if name == "split" and "split_sizes" in bound:
                    bound["split_size"] = bound.pop("split_sizes")
                return bound
        return {"input": args[0], **{"a%d" % i: a for i, a in enumerate(args) if i}, **kwargs}


def tensors_of(value, seen):
    """The tensors of nested containers and plain objects, in order, each once: as CacheOfTokens of
    the reader names them."""
    if id(value) in seen or isinstance(value, (type, str, int, float)):
        return []
    if isinstance(value, torch.Tensor):
        seen.add(id(value))
        return [value]
    if not isinstance(value, (list, tuple, dict)) and not hasattr(value, "__dict__"):
        return []
    seen.add(id(value))
    values = value if isinstance(value, (list, tuple)) else (value if isinstance(value, dict) else vars(value)).values()
    return [tensor for part in values for tensor in tensors_of(part, seen)]


def flat_output(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, torch.Tensor):
        return [value]
    if hasattr(value, "__iter__") and not isinstance(value, str):  # also a cache of keys and values
        try:
            return [t for v in value for t in flat_output(v)]
        except AttributeError:  # a cache of other states, which cannot be iterated
            return tensors_of(value, set())
    return []


def record(model, inputs, named=None):
    """What the model runs on inputs by position and by name: params, param_shapes, buffer_shapes,
    buffer_dtypes, ops, output, macs."""
    named = named or {}
    recorder = Recorder(
        model, list(inputs) + [tensor for value in named.values() for tensor in tensors_of(value, set())]
    )
    original_call, original_getitem = torch.nn.Module.__call__, torch.Tensor.__getitem__

    def traced_call(self, *args, **kwargs):
        recorder.stack.append(recorder.paths.get(id(self), recorder.stack[-1]))
        try:
            return original_call(self, *args, **kwargs)
        finally:
            recorder.stack.pop()

    def getitem(self, index):  # torch 1.13 does not show x[0] to a mode
        if recorder.busy:
            return original_getitem(self, index)
        return recorder.__torch_function__(original_getitem, (), (self, index))

    torch.nn.Module.__call__, torch.Tensor.__getitem__ = traced_call, getitem
    try:
        with torch.no_grad(), recorder:
            out = model(*inputs, **named)
    finally:
        torch.nn.Module.__call__, torch.Tensor.__getitem__ = original_call, original_getitem
    parameters, buffers = dict(model.named_parameters()), dict(model.named_buffers())
    return {
        "params": sum(p.numel() for p in parameters.values()),
        "param_shapes": {n: list(p.shape) for n, p in parameters.items()},
        "buffer_shapes": {n: list(b.shape) for n, b in buffers.items()},
        "buffer_dtypes": {n: plain(b.dtype) for n, b in buffers.items() if b.dtype != torch.float32},
        "ops": recorder.ops,
        "output": [recorder.src(t) for t in flat_output(out)],
        "macs": recorder.macs,
    }


def our_einops():
    """Makes einops and einops_exts of frontend/python/library importable here, and nothing else of
    that folder."""
    import importlib.abc
    import importlib.machinery

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path, target=None):
            return (
                importlib.machinery.PathFinder.find_spec(name, [LIBRARY]) if name in ("einops", "einops_exts") else None
            )

    sys.meta_path.insert(0, Finder())


def tensor_of(spec):
    """A shape (random floats) or "1x256:int64"."""
    if isinstance(spec, str):
        shape, dtype = spec.split(":")
        return torch.randint(0, 4, [int(d) for d in shape.split("x")], dtype=getattr(torch, dtype))
    return torch.randn(spec)


def make(name):
    module_name, call, shapes = MODELS[name]
    sys.path[:0] = [os.path.join(HERE, "models"), os.path.join(HERE, "../../../..")]
    if module_name in ("rearranging", "examples.diffusion_transformer"):
        our_einops()
    module = importlib.import_module(module_name)
    model = eval(call, dict(vars(module), torch=torch)).eval()
    arguments = [[tensor_of(s) for s in spec] if isinstance(spec, tuple) else tensor_of(spec) for spec in shapes]
    recorded = record(model, arguments)
    own = not module_name.startswith("torchvision")
    golden = {
        "name": name,
        "call": call,
        "library": not own,
        "file": module_name.replace(".", "/") + ".py",
        "torch": torch.__version__,
        "inputs": [
            {"shape": list(t.shape), "dtype": plain(t.dtype), **({"list": i} if isinstance(a, list) else {})}
            for i, a in enumerate(arguments)
            for t in tensors_in([a])
        ],
        **recorded,
    }
    raw = io.BytesIO()
    with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as f:
        f.write(json.dumps(golden, separators=(",", ":")).encode())
    with open(os.path.join(HERE, "goldens", name + ".json.gz"), "wb") as f:
        f.write(raw.getvalue())
    print(name, len(golden["ops"]), "records", len(raw.getvalue()), "bytes")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or MODELS:
        make(wanted)
