"""Hostile files, made when the test runs: name, what it is, how cobra-client may end, and the
bytes. Repetition is what a script is for."""
import json
import random

import flat_files

NET = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def forward(self, x): return x\n"


def nested():
    """Nesting of every kind, far deeper than the parser's limit and a little below."""
    deep = 200000
    pairs = {
        "parentheses": ("(", ")"),
        "brackets": ("[", "]"),
        "braces": ("{", "}"),
        "calls": ("f(", ")"),
        "subscripts": ("a[", "]"),
        "lambdas": ("lambda: ", ""),
        "nots": ("not ", ""),
        "minuses": ("-", ""),
        "tildes": ("~", ""),
        "ternaries": ("1 if 1 else ", ""),
        "awaits": ("await ", ""),
        "stars": ("*", ""),
        "powers": ("2 ** ", ""),
        "comprehensions": ("[x for x in ", "]"),
        "dicts": ("{1: ", "}"),
        "walruses": ("(x := ", ")"),
        "f_strings": ("f'{", "}'"),
    }
    for name, (left, right) in pairs.items():
        yield "deep_%s.py" % name, "%s nested %d deep" % (name.replace("_", " "), deep), (6, 7), (
            left * deep + "1" + right * deep
        ).encode()
    for name, (left, right) in pairs.items():
        if name not in ("f_strings", "awaits", "stars"):
            yield "less_deep_%s.py" % name, "%s nested 900 deep, then a model" % name.replace("_", " "), (0, 4, 6, 7), (
                "f = lambda *a: 0\na = {}\nif 0:\n    _ = " + left * 900 + "1" + right * 900 + "\n" + NET
            ).encode()
    chains = {
        "attributes": "a" + ".b" * deep,
        "sums": "1" + "+1" * deep,
        "ands": "1" + " and 1" * deep,
        "comparisons": "1" + "<1" * deep,
        "calls": "f" + "()" * deep,
        "indices": "a" + "[0]" * deep,
        "commas": "1," * deep,
        "strings": "'a'" * deep,
        "elifs": "if 0: pass\n" + "elif 0: pass\n" * deep,
        "decorators": "@d\n" * deep + "def f(): pass",
        "semicolons": "x=1;" * deep,
        "assignments": "x = " * deep + "1",
        "globals": "global " + ", ".join("x%d" % i for i in range(deep)),
        "dels": "x = 1\n" + "del x\n" * deep,
        "excepts": "try: 1/0\n" + "except E: pass\n" * deep,
        "withs": "with " + ", ".join(["a"] * deep) + ": pass",
        "handlers": "try: pass\n" + "finally: pass\n",
        "names": "\n".join("x%d = 1" % i for i in range(deep)),
        "cases": "match 1:\n" + " case 2: pass\n" * deep,
        "imports": "import " + ", ".join("m%d" % i for i in range(deep)),
        "dotted_imports": "import " + ", ".join("m%d.a" % i for i in range(deep)),
        "private_names": "class A:\n" + "".join(" __x%d = 1\n" % i for i in range(deep)),
    }
    for name, text in chains.items():
        yield "long_%s.py" % name, "a chain of %d %s" % (deep, name), (6, 7), text.encode()
    for word in ("if 1:", "while 1:", "for x in [1]:", "with a:", "try:", "def f():", "class A:"):
        body = "".join(" " * i + word + "\n" for i in range(3000))
        yield "blocks_%s.py" % word.split()[0].strip(":"), "3,000 nested blocks of %r" % word, (6, 7), body.encode()


def garbage():
    rng = random.Random(7)
    mb = 1 << 20
    yield "random.py", "10 MB of random bytes", (6, 7), rng.randbytes(10 * mb)
    yield "zeros.py", "10 MB of NUL bytes", (6, 7), bytes(10 * mb)
    yield "nul_in_code.py", "a NUL in the middle of code", (6,), b"x = 1\n\0y = 2\n"
    yield "spaces.py", "10 MB of spaces", (6, 7), b" " * (10 * mb)
    yield "newlines.py", "10 MB of newlines", (6, 7), b"\n" * (10 * mb)
    yield "tabs.py", "tabs and spaces that disagree", (6,), b"if 1:\n\tx = 1\n        y = 1\n"
    yield "hashes.py", "10 MB of one comment", (6, 7), b"#" * (10 * mb)
    yield "one_line.py", "one line of 10 MB", (6, 7), b"x=" + b"1+" * (5 * mb) + b"1"
    yield "one_string.py", "a string of 10 MB", (6, 7), b"x='" + b"a" * (10 * mb) + b"'"
    yield "open_string.py", "a triple-quoted string that does not end", (6, 7), b"x='''" + b"a\n" * (2 * mb)
    yield "one_name.py", "a name of 10 MB", (6, 7), b"a" * (10 * mb)
    yield "one_number.py", "a number of 10 MB", (6, 7), b"x=" + b"9" * (10 * mb)
    yield "hex_number.py", "a hexadecimal number of 10 MB", (6, 7), b"x=0x" + b"f" * (10 * mb)
    yield "float_number.py", "a float with 10 MB of digits", (6, 7), b"x=0." + b"1" * (10 * mb)
    yield "exponent.py", "a float with a huge exponent", (6,), b"x=1e" + b"9" * 100000
    yield "backslashes.py", "10 MB of continued lines", (6, 7), b"\\\n" * (5 * mb)
    yield "latin1.py", "not UTF-8", (6,), 'x = "é"'.encode("latin-1")
    yield "overlong.py", "overlong UTF-8", (6,), b'x = "\xc0\xaf"'
    yield "surrogate.py", "a surrogate in UTF-8", (6,), b'x = "\xed\xa0\x80"'
    yield "beyond_unicode.py", "a code point beyond Unicode", (6,), b'x = "\xf5\x80\x80\x80"'
    yield "truncated_utf8.py", "UTF-8 that ends in the middle", (6,), b'x = "\xe2\x82'
    yield "utf16.py", "UTF-16 with its mark", (6,), "x = 1".encode("utf-16")
    yield "coding_unknown.py", "a coding that does not exist", (6,), b"# coding: no-such-coding\nx = 1\n"
    yield "coding_rot13.py", "a coding that is a cipher", (6,), b"# coding: rot13\nk = 1\n"
    yield "escapes.py", "a million escapes", (6, 7), b"x = '" + b"\\N{BULLET}" * 100000 + b"'"
    yield "fstring_garbage.py", "an f-string of braces", (6, 7), b"x = f'" + b"{" * mb + b"'"
    yield "elf.py", "a program file", (6,), b"\x7fELF" + rng.randbytes(100000)
    yield "directory_name.py", "empty", (6,), b""
    yield "bundle_deep.py", "a class body of a million lines", (6, 7), b"class A:\n" + b" x = 1\n" * 1000000


def layer(op="relu", inputs=("in:0",), out=((1, 3, 8, 8),), attrs=None):
    return {"op": op, "inputs": list(inputs), "out": [list(o) for o in out], "attrs": attrs or {}}


def graph(ops, inputs=((1, 3, 8, 8),), output=([0, 0],)):
    return {
        "inputs": [{"name": "x%d" % i, "shape": list(s), "dtype": "float32"} for i, s in enumerate(inputs)],
        "ops": ops,
        "params": 0,
        "param_shapes": {},
        "output": list(output),
    }


def graphs():
    def g(name, what, value, want=(2, 4, 6, 7)):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        return "graph_%s.json" % name, what, want, data

    yield g("empty", "an empty file", b"")
    yield g("null", "null", b"null")
    yield g("open", "JSON that ends early", b'{"ops": [')
    yield g("deep_arrays", "a million open brackets", b"[" * 1000000)
    yield g("deep_objects", "a million objects in each other", b'{"a":' * 1000000 + b"1" + b"}" * 1000000)
    yield g(
        "deep_in_attrs",
        "nesting in an attribute",
        b'{"inputs":[],"ops":[{"op":"relu","inputs":[],"out":[],"attrs":{"a":'
        + b"[" * 500000
        + b"]" * 500000
        + b"}}]}",
    )
    yield g(
        "big_number",
        "numbers beyond 64 bits",
        b'{"inputs":[{"name":"x","shape":[99999999999999999999999999],"dtype":"float32"}],"ops":[]}',
    )
    yield g("float_shape", "a size of 1.5", graph([], [(1.5,)]))
    yield g("negative_shape", "a size of -1", graph([layer()], [(-1,)]))
    yield g("huge_shape", "sizes whose product overflows", graph([layer()], [(1 << 62, 1 << 62)]))
    yield g("rank", "rank 10**6", graph([layer()], [(1,) * 10**6]))
    yield g("self_reference", "a call that reads itself", graph([layer(inputs=([0, 0],))]))
    yield g("forward_reference", "a call that reads a later one", graph([layer(inputs=([1, 0],)), layer()]))
    yield g("negative_reference", "record -1", graph([layer(inputs=([-1, 0],))]))
    yield g("huge_reference", "record 10**18", graph([layer(inputs=([10**18, 0],))]))
    yield g("huge_output", "output 10**9 of a record", graph([layer(), layer(inputs=([0, 10**9],))]))
    yield g("unknown_input", "input 7 of 1", graph([layer(inputs=("in:7",))]))
    yield g("unknown_parameter", "a parameter that is not there", graph([layer(inputs=("p:weight",))]))
    yield g("unknown_op", "an operator that does not exist", graph([layer("no_such_operator")]))
    yield g("op_long", "an operator name of a megabyte", graph([layer("x" * 1000000)]))
    yield g("op_number", "an operator that is a number", graph([layer(3)]))
    yield g(
        "many_ops", "300,000 calls", graph([layer(inputs=("in:0" if i == 0 else [i - 1, 0],)) for i in range(300000)])
    )
    yield g("many_inputs", "cat of 10**6 inputs", graph([layer("cat", ["in:0"] * 10**6, attrs={"dim": 0})]))
    yield g("many_attrs", "a call with 10**5 attributes", graph([layer(attrs={"a%d" % i: i for i in range(10**5)})]))
    yield g("long_attr", "an attribute with 10**6 numbers", graph([layer("permute", attrs={"dims": [0] * 10**6})]))
    yield g(
        "wrong_attr",
        "attributes of the wrong type",
        graph([layer("softmax", attrs={"dim": "x" * 100000})]),
        (0, 2, 4, 6, 7),
    )
    yield g("repeat", "repeat beyond 2**63", graph([layer("repeat", attrs={"repeats": [1 << 40] * 4})]))
    yield g("expand", "expand beyond 2**63", graph([layer("expand", attrs={"size": [1 << 40, 3, 8, 8]})]))
    yield g("pad", "pad beyond 2**63", graph([layer("pad", attrs={"pad": [2**63 - 1] * 4, "mode": "constant"})]))
    yield g(
        "invalid_utf8",
        "names that are not UTF-8",
        b'{"inputs":[{"name":"\xff\xfe","shape":[1],"dtype":"float32"}],"ops":[]}',
    )
    yield g("duplicate_keys", "the same key a million times", b"{" + b'"a":1,' * 1000000 + b'"a":1}')
    yield g("garbage", "10 MB of random bytes", b"{" + random.Random(3).randbytes(10 << 20))
    yield g("wrong_out", "shapes that are not those inferred", graph([layer(out=((5, 5),))]))
    yield g(
        "dtype",
        "a dtype that does not exist",
        {"inputs": [{"name": "x", "shape": [1], "dtype": "float128"}], "ops": [], "output": []},
    )


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_tensor_type(shape):
    dims = b"".join(field(1, field(1, d)) for d in shape)
    return field(1, field(1, 1) + field(2, dims))


def onnx_model(nodes=b"", shape=(1, 3, 8, 8), initializers=b"", outputs=None, opset=13):
    value = lambda name, s: field(1, name) + field(2, onnx_tensor_type(s))
    body = nodes + field(2, b"g") + initializers + field(11, value(b"x", shape)) + field(12, outputs or value(b"y", ()))
    return field(1, 8) + field(7, body) + field(8, field(2, opset))


def onnx_node(op, inputs=(b"x",), outputs=(b"y",), attributes=b""):
    return field(
        1, b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(4, op) + attributes
    )


def onnx_ints(name, values):
    return field(5, field(1, name) + b"".join(field(8, v) for v in values) + field(20, 7))


def onnxes():
    def o(name, what, data, want=(2, 4, 6, 7)):
        return "model_%s.onnx" % name, what, want, data

    fine = onnx_model(onnx_node(b"Relu"))
    yield o("fine", "one Relu: what the others are damaged from", fine, (0,))
    yield o("empty", "an empty file", b"")
    yield o("garbage", "10 MB of random bytes", random.Random(5).randbytes(10 << 20))
    yield o("zeros", "10 MB of zeros", bytes(10 << 20))
    for i in range(1, 10):
        yield o("truncated_%d" % i, "cut after %d tenths" % i, fine[: len(fine) * i // 10])
    rng = random.Random(11)
    for i in range(10):
        damaged = bytearray(fine)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        yield o("damaged_%d" % i, "three bytes changed", bytes(damaged), (0, 2, 4, 6, 7))
    yield o("length", "a length of 2**62", field(1, 8) + varint(7 << 3 | 2) + varint(1 << 62))
    yield o("groups", "a million open groups", varint(7 << 3 | 3) * 1000000)
    nested = b""
    for _ in range(5000):
        nested = field(
            7, field(1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, nested) + field(20, 5)))
        )
    yield o("nested_graphs", "graphs in graphs 5,000 deep", field(1, 8) + nested)
    yield o("opset_0", "opset 0", onnx_model(onnx_node(b"Relu"), opset=0), (0, 2, 4, 6, 7))
    yield o("opset_huge", "opset 2**62", onnx_model(onnx_node(b"Relu"), opset=1 << 62))
    yield o("op", "an operator that does not exist", onnx_model(onnx_node(b"NoSuchOperator")))
    yield o("op_long", "an operator name of a megabyte", onnx_model(onnx_node(b"x" * 1000000)))
    yield o(
        "cycle",
        "two nodes that read each other",
        onnx_model(
            onnx_node(b"Add", (b"x", b"b"), (b"a",))
            + onnx_node(b"Relu", (b"a",), (b"b",))
            + onnx_node(b"Relu", (b"b",))
        ),
    )
    yield o("self", "a node that reads itself", onnx_model(onnx_node(b"Relu", (b"y",))))
    yield o("missing", "a node that reads what nobody makes", onnx_model(onnx_node(b"Relu", (b"z",))))
    yield o("no_inputs", "a Relu without inputs", onnx_model(onnx_node(b"Relu", ())))
    yield o("many_inputs", "a Sum of 200,000", onnx_model(onnx_node(b"Sum", (b"x",) * 200000)), (0, 2, 4, 6, 7))
    yield o("dims_huge", "an input of 2**62 x 2**62", onnx_model(onnx_node(b"Relu"), shape=(1 << 62, 1 << 62)))
    yield o(
        "dims_negative", "an input of -5", onnx_model(onnx_node(b"Relu"), shape=(-5 & (1 << 64) - 1,)), (0, 2, 4, 6, 7)
    )
    yield o("rank", "an input of rank 100,000", onnx_model(onnx_node(b"Relu"), shape=(1,) * 100000))
    yield o(
        "perm",
        "a permutation with 10**6 entries",
        onnx_model(onnx_node(b"Transpose", attributes=onnx_ints(b"perm", [0] * 10**6))),
    )
    yield o(
        "perm_twice",
        "a permutation that repeats",
        onnx_model(onnx_node(b"Transpose", attributes=onnx_ints(b"perm", [0, 0, 0, 0]))),
    )
    yield o(
        "kernel_zero",
        "a pool with kernel 0",
        onnx_model(onnx_node(b"MaxPool", attributes=onnx_ints(b"kernel_shape", [0, 0]))),
    )
    yield o(
        "kernel_huge",
        "a pool with kernel 2**62",
        onnx_model(onnx_node(b"MaxPool", attributes=onnx_ints(b"kernel_shape", [1 << 62] * 2))),
    )
    yield o(
        "strides_zero",
        "a pool with stride 0",
        onnx_model(
            onnx_node(b"MaxPool", attributes=onnx_ints(b"kernel_shape", [2, 2]) + onnx_ints(b"strides", [0, 0]))
        ),
    )
    yield o(
        "pads_huge",
        "a pool with pads of 2**62",
        onnx_model(
            onnx_node(b"MaxPool", attributes=onnx_ints(b"kernel_shape", [2, 2]) + onnx_ints(b"pads", [1 << 62] * 4))
        ),
    )
    tensor = lambda dims, data=b"", kind=7: field(
        5, b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, b"w") + field(9, data)
    )
    eight = lambda *v: b"".join(n.to_bytes(8, "little", signed=True) for n in v)
    yield o(
        "tensor_short",
        "a weight with fewer bytes than its shape says",
        onnx_model(onnx_node(b"Add", (b"x", b"w")), initializers=tensor((10**6,))),
    )
    yield o(
        "tensor_huge",
        "a weight of 2**62 elements and no data",
        onnx_model(onnx_node(b"Add", (b"x", b"w")), initializers=tensor((1 << 62,), kind=1)),
    )
    yield o(
        "tensor_type",
        "a weight of a type that does not exist",
        onnx_model(onnx_node(b"Add", (b"x", b"w")), initializers=tensor((1,), b"1", 99)),
    )
    yield o(
        "reshape_huge",
        "Reshape to sizes that overflow",
        onnx_model(onnx_node(b"Reshape", (b"x", b"w")), initializers=tensor((2,), eight(1 << 62, 1 << 62))),
    )
    yield o(
        "reshape_negative",
        "Reshape to -7",
        onnx_model(onnx_node(b"Reshape", (b"x", b"w")), initializers=tensor((1,), eight(-7))),
    )
    yield o(
        "expand_huge",
        "Expand beyond memory",
        onnx_model(onnx_node(b"Expand", (b"x", b"w")), initializers=tensor((4,), eight(1 << 40, 3, 8, 8))),
    )
    yield o(
        "tile_huge",
        "Tile beyond memory",
        onnx_model(onnx_node(b"Tile", (b"x", b"w")), initializers=tensor((4,), eight(*[1 << 40] * 4))),
    )
    yield o(
        "range_huge",
        "ConstantOfShape of 10**15",
        onnx_model(onnx_node(b"ConstantOfShape", (b"w",)), initializers=tensor((1,), eight(10**15))),
        (0, 2, 4, 6, 7),
    )
    yield o(
        "split_many",
        "Split into 10**5 outputs",
        onnx_model(onnx_node(b"Split", (b"x",), [b"y%d" % i for i in range(10**5)])),
    )
    yield o(
        "many_nodes",
        "600,000 nodes",
        onnx_model(b"".join(onnx_node(b"Relu", (b"x",), (b"n%d" % i,)) for i in range(600000)) + onnx_node(b"Relu")),
    )
    chain = b"".join(
        onnx_node(
            b"Concat",
            (b"n%d" % (i - 1) if i else b"x",) * 2,
            (b"n%d" % i,),
            field(5, field(1, b"axis") + field(3, 0) + field(20, 2)),
        )
        for i in range(100)
    )
    yield o("concat_doubles", "Concat with itself 100 times", onnx_model(chain + onnx_node(b"Relu", (b"n99",))))
    # Two bytes of a file may be a message of 200 in memory.
    for name, number in (("nodes", 1), ("initializers", 5), ("inputs", 11), ("value_infos", 13)):
        yield o(
            "empty_" + name,
            "4 million empty " + name.replace("_", " "),
            field(1, 8) + field(7, field(number, b"") * (4 << 20)) + field(8, field(2, 13)),
        )
    yield o(
        "empty_attributes",
        "a node with 4 million empty attributes",
        onnx_model(field(1, field(1, b"x") + field(2, b"y") + field(4, b"Relu") + field(5, b"") * (4 << 20))),
    )
    inner = field(
        1, field(4, b"If") + field(5, field(1, b"then_branch") + field(6, field(1, b"") * (4 << 20)) + field(20, 5))
    )
    yield o("empty_inner_nodes", "4 million empty nodes inside an If", onnx_model(inner))
    yield o("empty_functions", "4 million empty functions", onnx_model(onnx_node(b"Relu")) + field(25, b"") * (4 << 20))
    yield o(
        "dims_packed",
        "10 million packed dimensions of a weight",
        onnx_model(
            onnx_node(b"Add", (b"x", b"w")),
            initializers=field(5, field(1, b"\1" * (10 << 20)) + field(2, 1) + field(8, b"w")),
        ),
    )
    external = field(
        5,
        field(1, 4)
        + field(2, 1)
        + field(8, b"w")
        + field(13, field(1, b"location") + field(2, b"/etc/passwd"))
        + field(14, 1),
    )
    yield o("external", "weights in /etc/passwd", onnx_model(onnx_node(b"Add", (b"x", b"w")), initializers=external))


def all_files():
    for family in (nested, garbage, graphs, onnxes, flat_files.tflites, flat_files.params, flat_files.architectures):
        yield from family()
