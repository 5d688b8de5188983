#!/usr/bin/env python3
"""Writes overrides.def from PyTorch's own text: how its functions that are written in Python hand
themselves to __torch_function__.

    make_overrides.py PYTHON_OF_1.13 PYTHON_OF_2.13 > overrides.def"""
import json
import subprocess
import sys

ASK = r'''
import ast, inspect, json, textwrap, types
import torch
import torch.nn.functional as F

def tree_of(function):
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError):
        return None

def handed(tree):
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call)
            and "handle_torch_function" in (getattr(n.func, "id", None), getattr(n.func, "attr", None))]

def text_of(function, name):
    tree = tree_of(function)
    calls = handed(tree) if tree is not None else []
    if not calls:
        return None
    call = calls[0]
    defaults = {}
    a = tree.args
    names = [x.arg for x in a.posonlyargs + a.args]
    for x, d in zip(names[len(names) - len(a.defaults):], a.defaults):
        defaults[x] = d
    for x, d in zip(a.kwonlyargs, a.kw_defaults):
        if d is not None:
            defaults[x.arg] = d
    relevant = {n.id for n in ast.walk(call.args[1]) if isinstance(n, ast.Name)}
    if not isinstance(call.args[1], ast.Tuple) and relevant & {"tens_ops", "tensor_ops"}:
        relevant = {x for x in names if x not in ("embed_dim_to_check", "num_heads")} if "tens_ops" in relevant else {"A", "M"}
        for n in ast.walk(tree):
            if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "tens_ops":
                relevant = {x.id for x in ast.walk(n.value) if isinstance(x, ast.Name)}

    def one(x):
        star = isinstance(x, ast.Starred)
        x = x.value.id if star else x.id
        text = ("*" if star else "") + x + ("!" if x in relevant else "")
        if x in defaults:
            text += "=" + repr(eval(ast.unparse(defaults[x])))
        return text

    parts = [one(x) for x in call.args[2:]]
    words = [one(k.value) for k in call.keywords if k.arg is not None]
    left = [x for x in defaults if x not in {n.id for part in call.args[2:] + [k.value for k in call.keywords]
                                             for n in ast.walk(part) if isinstance(n, ast.Name)}]
    text = ", ".join(parts) + (" | " + ", ".join(words) if words else "")
    if any(k.arg is None for k in call.keywords):
        text += " | **"
    if left:  # not handed on
        text += " - " + ", ".join(left)
    return text

def public(function, name):
    """Of what boolean_dispatch made: of its second function, which return_indices chooses not to be."""
    inner = [c.cell_contents for c in function.__closure__ or ()]
    functions = [i for i in inner if isinstance(i, types.FunctionType)]
    if function.__code__.co_name == "fn" and functions:
        text = text_of(functions[-1], name) if False else None
        for f in functions:
            text = text_of(f, name) or text
        return text
    return None

found = {}
for space, module in (("t", torch), ("F", F), ("N", torch.nn.init), ("m", torch.Tensor)):
    for name in sorted(vars(module)):
        value = vars(module)[name]
        if not isinstance(value, types.FunctionType):
            continue
        if name.startswith("_") and not name.startswith("__") and space != "F":
            continue
        code = getattr(value.__code__, "co_qualname", value.__code__.co_name)
        if code.endswith("wrapped") and "type_error" in code:
            found[space + name] = "~"
            continue
        text = text_of(value, name)
        if text is None and space in "tF":
            text = public(value, name)
        if text is not None:
            found[space + name] = text
print(json.dumps(found))
'''
# Whether a function is in C there cannot be read anywhere; these were looked at with a class that notes what it sees.
IN_C = {
    "m": """__abs__=abs __add__=add __radd__=add __iadd__=add_ __sub__=sub __isub__=sub_ __mul__=mul __rmul__=mul
    __imul__=mul_ __truediv__=div __itruediv__=div_ __ifloordiv__=floor_divide_ __mod__=remainder __imod__=remainder_
    __matmul__=matmul __imatmul__=matmul __neg__=neg __pos__=positive __ge__=ge __gt__=gt __le__=le __lt__=lt
    __ne__=ne __rand__=bitwise_and __ror__=bitwise_or __rxor__=bitwise_xor ndimension=dim nelement=numel
    to_sparse_coo=to_sparse __str__=__repr__""",
    "t": "spmm=mm",
    "F": "sigmoid=m.sigmoid tanh=m.tanh",
}
# The same object as that of torch.
SHARED = """adaptive_avg_pool1d avg_pool1d bilinear celu_ channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d
conv_transpose2d conv_transpose3d cosine_similarity hardshrink native_channel_shuffle pairwise_distance pdist
pixel_shuffle pixel_unshuffle prelu relu_ rrelu_ selu_ threshold_"""
# Functions of our Python text that are in C there.
TEXT_IN_C = """is_floating_point is_complex numel result_type is_same_size is_signed is_conj is_neg is_inference get_device
normal lstm gru rnn_tanh rnn_relu lstm_cell hann_window hamming_window blackman_window bartlett_window kaiser_window
logspace empty_strided can_cast promote_types"""
# What makes tensors of no tensor: only a mode sees it. Then what nobody sees.
FACTORIES = """tensor as_tensor scalar_tensor zeros ones empty rand randn full arange linspace eye randint randperm
triu_indices tril_indices"""
UNSEEN = {"t": "from_numpy range broadcast_shapes", "m": "__hash__ __getattr__ __iter__ as_subclass"}
BY_HAND = {
    "teinsum": "equation, *operands!",
    "tmeshgrid": "*tensors! | indexing=None",
    "tunique": "input! | sorted=True, return_inverse=False, return_counts=False, dim=None",
    "tunique_consecutive": "input! | return_inverse=False, return_counts=False, dim=None",
}
# Since when a parameter is there that only the later one has.
SINCE = {"generator": "2.3", "weight": "2.7", "align_to_window": "2.8"}


def main():
    old, new = (
        json.loads(
            subprocess.run([python, "-W", "ignore", "-c", ASK], capture_output=True, text=True, check=True).stdout
        )
        for python in sys.argv[1:3]
    )
    print("// Written by make_overrides.py. NAME(space, name, since, text): overrides.cc says what the text means.")
    for space, words in IN_C.items():
        BY_HAND.update({space + word.split("=")[0]: "=" + word.split("=")[1] for word in words.split()})
    BY_HAND.update({"F" + word: "=t." + word for word in SHARED.split()})
    BY_HAND.update({"t" + word: "C" for word in TEXT_IN_C.split()})
    BY_HAND.update({"t" + word: "+" for word in FACTORIES.split()})
    BY_HAND.update({space + word: "-" for space, words in UNSEEN.items() for word in words.split()})
    for key in sorted(set(old) | set(new) | set(BY_HAND)):
        first, second = BY_HAND.get(key, old.get(key)), BY_HAND.get(key, new.get(key))
        space, name = key[0], key[1:]
        rows = [("", first)] if first == second else [("", first), ("2.0", second)]
        if first and second and first != second:
            since = [SINCE[word] for word in SINCE if word in second and word not in first]
            rows = [("", first), (since[0] if since else "2.0", second)]
        for since, text in rows:
            if text is not None:
                print('COBRA_TORCH_OVERRIDE(%r, "%s", "%s", %s)' % (space, name, since, json.dumps(text)))
    print('COBRA_TORCH_OVERRIDE(\'m\', "__eq__", "", "=eq")')
    print('COBRA_TORCH_OVERRIDE(\'m\', "__eq__", "2.9", "")')
    print('COBRA_TORCH_OVERRIDE(\'t\', "asarray", "", "-")')
    print('COBRA_TORCH_OVERRIDE(\'t\', "asarray", "2.0", "+")')


if __name__ == "__main__":
    main()
