"""Hostile TensorFlow Lite files, ncnn files and architecture strings, for files.py."""
import random
import struct


class Table:
    """A table of a flatbuffer: its fields by slot. What a field holds is a number with its format,
    or what is written behind the table."""

    def __init__(self, **fields):
        self.fields = {int(slot[1:]): value for slot, value in fields.items()}


class Vector:
    """Numbers ('<i'), bytes ('B'), or tables (None)."""

    def __init__(self, items, form="<i"):
        self.items, self.form = items, form


def byte(n):
    return "b", n


def word(n):
    return "<I", n & 0xFFFFFFFF


class Writer:
    """Referrers before what they refer to: offsets are positive. What stands in `late` is written
    once, at the end, whoever refers to it."""

    def __init__(self, late=()):
        self.data = bytearray(b"\0\0\0\0TFL3")
        self.late = {id(o): (o, []) for o in late}
        self.waiting = []

    def refer(self, at, target):
        (self.late[id(target)][1] if id(target) in self.late else self.waiting).append(
            at if id(target) in self.late else (at, target)
        )

    def drain(self):
        while self.waiting:
            at, target = self.waiting.pop()
            struct.pack_into("<I", self.data, at, self.write(target) - at)

    def finish(self, root):
        self.refer(0, root)
        self.drain()
        for target, places in self.late.values():
            self.drain()
            position = self.write(target)
            for at in places:
                struct.pack_into("<I", self.data, at, position - at)
            self.drain()
        return bytes(self.data)

    def align(self):
        self.data.extend(bytes(-len(self.data) % 4))

    def write(self, o):
        self.align()
        if isinstance(o, Vector):
            position = len(self.data)
            self.data += struct.pack("<I", len(o.items))
            if o.form == "B":
                self.data += bytes(o.items)
            elif o.form is not None:
                self.data += b"".join(struct.pack(o.form, i) for i in o.items)
            else:
                first = len(self.data)
                self.data += bytes(4 * len(o.items))
                for i, item in enumerate(o.items):
                    self.refer(first + 4 * i, item)
            return position
        slots = max(o.fields, default=-1) + 1
        vtable = len(self.data)
        self.data += struct.pack("<HH", 4 + 2 * slots, 4 + 4 * slots) + bytes(2 * slots)
        self.align()
        position = len(self.data)
        self.data += struct.pack("<i", position - vtable) + bytes(4 * slots)
        for slot, value in o.fields.items():
            at = position + 4 + 4 * slot
            struct.pack_into("<H", self.data, vtable + 4 + 2 * slot, at - position)
            if isinstance(value, tuple):
                struct.pack_into(value[0], self.data, at, value[1])
            else:
                self.refer(at, value)
        return position


def tensor(shape, kind=0, buffer=0, name=b"t"):
    return Table(
        _0=shape if isinstance(shape, Vector) else Vector(shape), _1=byte(kind), _2=word(buffer), _3=Vector(name, "B")
    )


def operator(inputs, outputs, code=0, options=None):
    as_vector = lambda v: v if isinstance(v, Vector) else Vector(v)
    fields = {"_0": word(code), "_1": as_vector(inputs), "_2": as_vector(outputs)}
    if options is not None:
        fields.update(_3=byte(options[0]), _4=options[1])
    return Table(**fields)


def model(tensors, operators, inputs=(0,), outputs=(1,), codes=(19,), buffers=(), late=(), version=3):
    """Codes: 19 RELU, 0 ADD, 2 CONCATENATION, 22 RESHAPE, 69 TILE, 130 BROADCAST_TO."""
    graph = Table(
        _0=tensors if isinstance(tensors, Vector) else Vector(tensors, None),
        _1=Vector(inputs),
        _2=Vector(outputs),
        _3=operators if isinstance(operators, Vector) else Vector(operators, None),
    )
    root = Table(
        _0=word(version),
        _1=Vector([Table(_0=byte(min(c, 127)), _3=("<i", c)) for c in codes], None),
        _2=Vector([graph], None),
        _4=Vector([Table()] + [Table(_0=Vector(b, "B")) for b in buffers], None),
    )
    return Writer(late).finish(root)


def tflites():
    def t(name, what, data, want=(2, 4, 6, 7)):
        return "flat_%s.tflite" % name, what, want, data

    shape = (1, 8, 8, 3)
    fine = model([tensor(shape), tensor(shape)], [operator((0,), (1,))])
    yield t("fine", "one ReLU: what the others are damaged from", fine, (0,))
    yield t("empty", "an empty file", b"")
    yield t("garbage", "10 MB of random bytes", random.Random(5).randbytes(10 << 20))
    yield t(
        "garbage_inside",
        "10 MB of random bytes behind the identifier",
        b"\x10\0\0\0TFL3" + random.Random(6).randbytes(10 << 20),
    )
    yield t("zeros", "10 MB of zeros behind the identifier", b"\x10\0\0\0TFL3" + bytes(10 << 20))
    for i in range(1, 10):
        yield t("truncated_%d" % i, "cut after %d tenths" % i, fine[: len(fine) * i // 10])
    rng = random.Random(11)
    for i in range(10):
        damaged = bytearray(fine)
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        yield t("damaged_%d" % i, "three bytes changed", bytes(damaged), (0, 2, 4, 6, 7))
    for i, offset in enumerate((0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 1, 3, len(fine), len(fine) - 1)):
        yield t("root_%d" % i, "a root at %d" % offset, struct.pack("<I", offset) + fine[4:])
    backwards = bytearray(fine)
    struct.pack_into("<i", backwards, struct.unpack_from("<I", fine)[0], -(1 << 31))
    yield t("vtable", "a vtable far outside", bytes(backwards))
    # Offsets are not signed, but 32-bit sums wrap around: a table that holds itself.
    cycle = bytearray(fine)
    root = struct.unpack_from("<I", fine)[0]
    struct.pack_into("<I", cycle, root + 4 + 8, (1 << 32) - 12)
    yield t("cycle", "subgraphs that begin at their own model", bytes(cycle))
    yield t("version", "version 2**32 - 1", model([tensor(shape), tensor(shape)], [operator((0,), (1,))], version=-1))
    relu = operator((0,), (1,))
    one = tensor(shape)
    yield t(
        "count_huge",
        "a list that says it has 2**31 entries",
        fine.replace(struct.pack("<Iiiii", 4, *shape), struct.pack("<Iiiii", 1 << 31, *shape), 1),
    )
    yield t(
        "shared_tables",
        "500,000 operators that are one table",
        model([one, tensor(shape)], Vector([relu] * 500000, None), late=[relu]),
    )
    yield t(
        "shared_tensors",
        "2,000,000 tensors that are one table",
        model(Vector([one] * 2000000, None), [relu], late=[one]),
    )
    many = Vector([0] * 1000000)
    shared = operator(many, (1,), 0, (10, Table()))
    yield t(
        "shared_lists",
        "50,000 concatenations of the same million tensors",
        model([one, tensor((1000000, 8, 8, 3))], Vector([shared] * 50000, None), codes=(2,), late=[shared, many]),
    )
    weights = tensor((256, 256), 9, 1)
    yield t(
        "shared_buffer",
        "100,000 constants in the same 64 kB",
        model(
            Vector([tensor(shape), tensor(shape)] + [weights] * 100000, None),
            [relu],
            buffers=[bytes(65536)],
            late=[weights],
        ),
        (0, 2, 4, 6, 7),
    )
    sizes = tensor((65536,), 2, 1)
    yield t(
        "shared_sizes",
        "10,000 lists of 65,536 sizes in the same buffer",
        model(
            Vector([tensor(shape), tensor(shape)] + [sizes] * 10000, None),
            [relu],
            buffers=[bytes(4 * 65536)],
            late=[sizes],
        ),
        (0, 2, 4, 6, 7),
    )
    yield t(
        "tensor_far", "an operator that reads tensor 10**9", model([one, tensor(shape)], [operator((10**9,), (1,))])
    )
    yield t("tensor_minus", "an operator that reads tensor -2", model([one, tensor(shape)], [operator((-2,), (1,))]))
    yield t("code_far", "operator code number 10**9", model([one, tensor(shape)], [operator((0,), (1,), 10**9)]))
    yield t("buffer_far", "a constant in buffer 10**9", model([one, tensor(shape, 0, 10**9)], [relu]))
    yield t("self", "an operator that reads its own output", model([one, tensor(shape)], [operator((1,), (1,))]))
    yield t(
        "two_cycle",
        "operators that read each other",
        model([one, tensor(shape), tensor(shape)], [operator((2,), (1,)), operator((1,), (2,))]),
    )
    yield t(
        "written_twice", "a tensor that two operators write", model([one, tensor(shape)], [operator((0,), (1,))] * 2)
    )
    yield t("dimension_minus", "a dimension of -1", model([tensor((1, -1, 8, 3)), tensor(shape)], [relu]))
    yield t(
        "dimension_huge", "four dimensions of 2**31 - 1", model([tensor((2**31 - 1,) * 4), tensor(shape)], [relu])
    )
    yield t(
        "dimension_zero_huge",
        "dimensions of 2**31 - 1 and one of 0",
        model([tensor((2**31 - 1,) * 3 + (0,)), tensor((2**31 - 1,) * 3 + (0,))], [relu]),
        (0, 2, 4, 6, 7),
    )
    yield t("rank", "rank 100,000", model([tensor((1,) * 100000), tensor(shape)], [relu]))
    yield t("code", "an operator that does not exist", model([one, tensor(shape)], [relu], codes=(999,)))
    yield t(
        "options",
        "options of another operator",
        model([one, tensor(shape)], [operator((0,), (1,), 0, (1, Table(_1=("<i", -1), _2=("<i", 0))))], codes=(1,)),
    )
    yield t(
        "many_nodes",
        "90,000 ReLUs",
        model(
            [tensor(shape) for _ in range(90001)], [operator((i,), (i + 1,)) for i in range(90000)], outputs=(90000,)
        ),
    )
    yield t(
        "many_inputs",
        "300,000 inputs",
        model([tensor(shape) for _ in range(300000)], [], inputs=range(300000), outputs=(0,)),
        (0, 2, 4, 6, 7),
    )
    yield t(
        "names",
        "100,000 weights of the same name",
        model(
            [tensor((1,)) for _ in range(2)]
            + [tensor((1,), 0, 1, b"w" * 200) for _ in range(30000)]
            + [tensor((1,)) for _ in range(30000)],
            [operator((0, 2 + i), (30002 + i,), 0, (11, Table())) for i in range(30000)],
            codes=(0,),
            outputs=(60001,),
            buffers=[bytes(4)],
        ),
        (0, 2, 4, 6, 7),
    )
    yield t(
        "name_huge",
        "a name of 5 MB",
        model([tensor(shape, name=b"x" * (5 << 20)), tensor(shape)], [operator((1,), (1,))]),
    )
    lists = [tensor((8,), 2, 1)] + [tensor((8 << i,), 2) for i in range(1, 25)]
    doubling = [operator((i, i), (i + 1,), 0, (10, Table())) for i in range(24)]
    yield t(
        "concat_doubles",
        "a list of sizes joined with itself 24 times",
        model(lists, doubling, inputs=(), outputs=(24,), codes=(2,), buffers=[bytes(32)]),
        (0, 2, 4, 6, 7),
    )
    for name, code, values in (
        ("reshape", 22, (2**31 - 1,) * 4),
        ("tile", 69, (2**31 - 1,) * 4),
        ("broadcast", 130, (2**31 - 1, 8, 8, 3)),
        ("reshape_minus", 22, (-1,) * 4),
    ):
        yield t(
            name,
            "%s to %r" % (name, values),
            model(
                [one, tensor(shape), tensor((4,), 2, 1)],
                [operator((0, 2), (1,))],
                codes=(code,),
                buffers=[struct.pack("<4i", *values)],
            ),
        )


def params():
    """ncnn's text files."""

    def p(name, what, text, want=(2, 4, 6, 7)):
        return "flat_%s.param" % name, what, want, text if isinstance(text, bytes) else text.encode()

    def file(lines, blobs=None):
        return "7767517\n%d %d\n%s\n" % (len(lines), blobs or len(lines), "\n".join(lines))

    head = "Input a 0 1 b0 0=8 1=8 2=3"
    relus = lambda n: [head] + ["ReLU r%d 1 1 b%d b%d" % (i, i, i + 1) for i in range(n)]
    fine = file(relus(3))
    yield p("ncnn_fine", "three ReLUs: what the others are damaged from", fine, (0,))
    yield p("ncnn_empty", "an empty file", "")
    yield p("ncnn_garbage", "10 MB of random bytes", random.Random(5).randbytes(10 << 20))
    yield p(
        "ncnn_garbage_inside",
        "10 MB of random bytes behind the first line",
        b"7767517\n" + random.Random(6).randbytes(10 << 20),
    )
    yield p("ncnn_binary", "the binary form", b"\xdd\x85\x76\x00" + bytes(1000))
    yield p("ncnn_newlines", "10 MB of empty lines", "7767517\n1 1\n" + "\n" * (10 << 20))
    yield p("ncnn_one_line", "a line of 10 MB", "7767517\n1 1\n" + "x" * (10 << 20))
    yield p("ncnn_counts", "2**63 layers", "7767517\n9223372036854775807 9223372036854775807\n")
    yield p("ncnn_many", "59,990 ReLUs", file(relus(59990)), (0, 7))
    yield p("ncnn_too_many", "60,001 layers", file(relus(60000)))
    yield p(
        "ncnn_fan_out",
        "a Split into 100,000, a Concat of them",
        file(
            [
                head,
                "Split s 1 100000 b0 " + " ".join("c%d" % i for i in range(100000)),
                "Concat d 100000 1 %s e" % " ".join("c%d" % i for i in range(100000)),
            ],
            100002,
        ),
        (0, 7),
    )
    yield p(
        "ncnn_slices",
        "a Slice into 100,000",
        file(
            [
                "Input a 0 1 b0 0=8 1=8 2=100000",
                "Slice s 1 100000 b0 %s -23300=100000%s" % (" ".join("c%d" % i for i in range(100000)), ",1" * 100000),
            ],
            100001,
        ),
        (0, 7),
    )
    yield p(
        "ncnn_list",
        "lists of 400,000 numbers",
        file([head, "Crop c 1 1 b0 b1 -23309=200000%s -23310=200000%s" % (",1" * 200000, ",2" * 200000)]),
    )
    yield p(
        "ncnn_list_count",
        "a list that says it has 2**31 - 1 items",
        file([head, "Crop c 1 1 b0 b1 -23309=2147483647,1"]),
    )
    yield p("ncnn_name", "a name of 1 MB", file([head, "ReLU %s 1 1 b0 b1" % ("n" * 1000000)]))
    yield p("ncnn_large", "an input of 2**93 elements", file(["Input a 0 1 b0 0=2147483647 1=2147483647 2=2147483647"]))
    yield p(
        "ncnn_grows",
        "a blob that grows a million times in each layer",
        file([head] + ["Tile t%d 1 1 b%d b%d 0=0 1=1000000" % (i, i, i + 1) for i in range(10)]),
    )
    yield p("ncnn_window", "a window of 2**20 squared", file([head, "Convolution c 1 1 b0 b1 0=1048576 1=1048576 6=1"]))
    yield p(
        "ncnn_heads",
        "attention over 1,000,000 steps",
        file(["Input a 0 1 b0 0=64 1=1000000", "MultiHeadAttention m 1 1 b0 b1 0=64 1=64 2=4096"]),
        (0, 7),
    )
    yield p(
        "ncnn_priors",
        "a million prior boxes for every pixel",
        file(
            [
                "Input a 0 1 b0 0=10000 1=10000 2=3",
                "PriorBox p 1 1 b0 b1 -23300=1000%s -23302=1000%s" % (",1.0" * 1000, ",2.0" * 1000),
            ]
        ),
    )
    deep = "abs(" * 48 + "8" + ")" * 48
    reshape = 'Reshape s%d 1 1 b%d b%d 6="%s"'
    yield p(
        "ncnn_expressions",
        "20,000 expressions of 48 calls each",
        file([head] + [reshape % (i, i, i + 1, "8,%s,-1" % deep) for i in range(20000)]),
        (0, 7),
    )
    yield p("ncnn_expression", "an expression of 1 MB", file([head, reshape % (0, 0, 1, "abs(" * 250000)]))
    yield p("ncnn_numbers", "a size of 2**31", file([head, reshape % (0, 0, 1, "*(65536,32768),-1")]))
    equation = "ijkl,mnop,qrst,uvwx->ijkl"
    yield p(
        "ncnn_sums",
        "an Einsum of 30**16 products",
        file(
            ["Input a%d 0 1 b%d 0=30 1=30 11=30 2=30" % (i, i) for i in range(4)]
            + ["Einsum e 4 1 b0 b1 b2 b3 b4 -23300=%d,%s" % (len(equation), ",".join(str(ord(c)) for c in equation))]
        ),
        (0, 7),
    )
    rng = random.Random(11)
    for i in range(10):
        damaged = bytearray(fine.encode())
        for _ in range(3):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        yield p("ncnn_damaged_%d" % i, "three bytes changed", bytes(damaged), (0, 2, 4, 6, 7))


def architectures():
    def a(name, what, text, want=(2, 4, 6, 7)):
        return "arch_%s.arch" % name, what, want, text.encode("utf-8", "surrogateescape")

    cell = "|nor_conv_3x3~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_1x1~1|none~2|"
    yield a("fine", "a cell: what the others are damaged from", "nasbench201:" + cell, (0,))
    yield a("empty", "nothing", "")
    yield a("colon", "a colon", ":")
    yield a("space", "a space of 100,000 characters", "x" * 100000 + ":y")
    yield a("long", "100,000 edges", "nasbench201:" + "|none~0" * 14000)
    yield a("option_unknown", "an option that does not exist", "nasbench201,x=1:" + cell)
    yield a("options_many", "9,000 options", "nasbench201," + ",".join(["cells=1"] * 7000) + ":" + cell)
    yield a("cells", "a thousand cells", "nasbench201,cells=1000:" + cell, (0, 7))
    yield a("cells_beyond", "cells beyond the space", "nasbench201,cells=1001:" + cell)
    yield a("cells_huge", "cells beyond 64 bits", "nasbench201,cells=99999999999999999999:" + cell)
    yield a("channels_minus", "channels of -1", "nasbench201,channels=-1:" + cell)
    yield a("index_huge", "an edge from node 10**20", "nasbench201:|none~100000000000000000000|")
    yield a("nul", "a NUL in the middle", "nasbench201:|none~0|\x01+|")
    yield a("latin1", "not UTF-8", "nasbench201:|n\udcffne~0|+")
    yield a("matrix_open", "a matrix that does not end", "nasbench101:[[" + "0," * 30000)
    yield a(
        "matrix_large",
        "a matrix of 100 rows",
        "nasbench101:[" + ",".join(["[" + ",".join(["0"] * 100) + "]"] * 100) + "] [input]",
    )
    yield a("matrix_deep", "30,000 open brackets", "nasbench101:" + "[" * 30000)
    yield a("matrix_lower", "edges that lead back", "nasbench101:[[1,1,1],[1,1,1],[1,1,1]] [input, conv3x3, output]")
    yield a("genotype_large", "10,000 edges in a cell", "darts:Genotype(normal=[" + "('none', 0), " * 4000)
    yield a(
        "genotype_range",
        "range(-999999999, 999999999)",
        "darts:Genotype(normal=[('none', 0), ('none', 1)], normal_concat=range(-999999999, 999999999)",
    )
    edges = "('dil_conv_5x5', 0), ('dil_conv_5x5', 1), " + ", ".join(
        "('dil_conv_5x5', %d)" % (i // 2 + 1) for i in range(30)
    )
    yield a(
        "genotype_deep",
        "many steps in a thousand layers",
        "darts,layers=1000:Genotype(normal=[%s], normal_concat=range(2, 18), reduce=[%s], reduce_concat=range(2, 18))"
        % (edges, edges),
    )
    yield a(
        "layers_huge",
        "channels that double too often",
        "darts,layers=1000,channels=4096:"
        + "Genotype(normal=[('none', 0), ('none', 1)], normal_concat=[2, 2, 2, 2], reduce=[('none', 0), ('none', 1)], reduce_concat=[2])",
        (0, 2, 4, 6, 7),
    )
    yield a("hat_twice", "a key that is given twice", "hat:" + "encoder_layer_num: 1, " * 2)
    yield a("hat_braces", "60,000 open braces", "hat:" + "{" * 60000)
    yield a("hat_layers", "a list of 10,000 layers", "hat:encoder_ffn_embed_dim: [" + "1, " * 10000)
    yield a("hat_number", "a number of 50,000 digits", "hat:encoder_layer_num: " + "9" * 50000)
    yield a("fbnet_many", "10,000 blocks", "fbnet:" + "k3_e6 " * 10000)
    yield a("ofa_many", "10,000 kernels", "ofa:ks:" + "3 " * 10000)
    yield a(
        "ofa_resolution",
        "a resolution of 10**9",
        "ofa:ks:%s e:%s d:%s r:1000000000" % (" ".join(["3"] * 20), " ".join(["3"] * 20), " ".join(["2"] * 5)),
    )
