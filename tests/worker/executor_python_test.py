"""What the executor computes is what python3-torch computes: single calls, and a residual network,
with the same numbers."""
import json, os, subprocess, sys, tempfile, unittest

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)

RUN_GRAPH = os.path.join(os.environ["COBRA_BIN"], "run_graph")


class Net:
    """Writes a graph down call by call and computes it with torch at the same time."""

    def __init__(self):
        self.inputs, self.ops, self.params, self.buffers = [], [], {}, {}

    def input(self, *shape):
        t = torch.randn(*shape)
        self.inputs.append(t.clone())
        return "in:%d" % (len(self.inputs) - 1), t

    def param(self, *shape, positive=False):
        name = "p%d" % len(self.params)
        self.params[name] = torch.rand(*shape) + 0.5 if positive else torch.randn(*shape) * 0.2
        return "p:" + name, self.params[name]

    def buffer(self, *shape):
        name = "b%d" % len(self.buffers)
        self.buffers[name] = torch.rand(*shape) + 0.5
        return "b:" + name, self.buffers[name]

    def call(self, op, function, args, attrs=None, inplace=False):
        """args: pairs (source, tensor) or None; function takes the tensors."""
        with torch.inference_mode():
            out = function(*[a[1] if a else None for a in args])
        node = {"op": op, "inputs": [a[0] if a else None for a in args], "attrs": attrs or {}, "out": [list(out.shape)]}
        if inplace:
            node["inplace"] = True
        self.ops.append(node)
        return len(self.ops) - 1, out

    def check(self, test, output):
        graph = {
            "inputs": [
                {"name": "x%d" % i, "shape": list(t.shape), "dtype": "float32"} for i, t in enumerate(self.inputs)
            ],
            "ops": self.ops,
            "param_shapes": {k: list(v.shape) for k, v in self.params.items()},
            "buffer_shapes": {k: list(v.shape) for k, v in self.buffers.items()},
            "output": [output[0]],
        }
        with tempfile.TemporaryDirectory() as d:
            names = [os.path.join(d, n) for n in ("graph.json", "tensors", "outputs")]
            with open(names[0], "w") as f:
                json.dump(graph, f)
            with open(names[1], "wb") as f:
                for t in self.inputs + list(self.params.values()) + list(self.buffers.values()):
                    f.write(t.contiguous().numpy().tobytes())
            done = subprocess.run([RUN_GRAPH] + names, capture_output=True, text=True)
            test.assertEqual(done.returncode, 0, done.stderr)
            with open(names[2], "rb") as f:
                got = torch.frombuffer(bytearray(f.read()), dtype=torch.float32)
        want = output[1].contiguous().flatten()
        test.assertEqual(got.shape, want.shape)
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)

    # the words of a residual network
    def conv(self, x, out, kernel, stride, padding, groups=1):
        w = self.param(out, x[1].shape[1] // groups, kernel, kernel)
        attrs = {"stride": [stride] * 2, "padding": [padding] * 2, "dilation": [1, 1], "groups": groups}
        return self.call("conv2d", lambda x, w, b: F.conv2d(x, w, b, stride, padding, 1, groups), [x, w, None], attrs)

    def norm(self, x):
        c = x[1].shape[1]
        args = [x, self.buffer(c), self.buffer(c), self.param(c, positive=True), self.param(c)]
        return self.call(
            "batch_norm", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, False, 0.1, 1e-5), args, {"eps": 1e-5}
        )

    def relu(self, x):
        return self.call("relu", lambda x: F.relu(x, inplace=True), [x], inplace=True)

    def linear(self, x, out):
        return self.call("linear", F.linear, [x, self.param(out, x[1].shape[-1]), self.param(out)])


class ExecutorTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.net = Net()

    def one(self, op, function, shapes, attrs=None):
        args = [self.net.input(*s) for s in shapes]
        self.net.check(self, self.net.call(op, function, args, attrs))

    def test_unary(self):
        for op, f in (
            ("gelu", F.gelu),
            ("silu", F.silu),
            ("hardswish", F.hardswish),
            ("sigmoid", torch.sigmoid),
            ("mish", F.mish),
        ):
            self.net = Net()
            self.one(op, f, [(2, 3, 5)], {"approximate": "none"} if op == "gelu" else {})

    def test_arithmetic(self):
        for op, f in (
            ("add", torch.add),
            ("sub", torch.sub),
            ("mul", torch.mul),
            ("div", torch.div),
            ("maximum", torch.maximum),
        ):
            self.net = Net()
            self.one(op, f, [(2, 3, 5), (3, 1)])

    def test_products(self):
        self.one("matmul", torch.matmul, [(2, 3, 4), (4, 5)])
        self.net = Net()
        self.one(
            "einsum",
            lambda a, b: torch.einsum("bij,bkj->bik", a, b),
            [(2, 3, 4), (2, 5, 4)],
            {"equation": "bij,bkj->bik"},
        )

    def test_softmax_and_norms(self):
        self.one("softmax", lambda x: F.softmax(x, -1), [(2, 3, 7)], {"dim": -1})
        self.net = Net()
        self.one(
            "layer_norm",
            lambda x, w, b: F.layer_norm(x, [7], w, b, 1e-5),
            [(2, 3, 7), (7,), (7,)],
            {"normalized_shape": [7], "eps": 1e-5},
        )
        self.net = Net()
        self.one("normalize", lambda x: F.normalize(x, 2.0, 1), [(2, 3, 7)], {"p": 2.0, "dim": 1, "eps": 1e-12})
        self.net = Net()
        self.one(
            "local_response_norm",
            lambda x: F.local_response_norm(x, 5),
            [(2, 9, 4, 4)],
            {"size": 5, "alpha": 1e-4, "beta": 0.75, "k": 1.0},
        )

    def test_pools(self):
        self.one(
            "avg_pool2d",
            lambda x: F.avg_pool2d(x, 3, 2, 1, False, False),
            [(2, 3, 9, 9)],
            {
                "kernel_size": [3, 3],
                "stride": [2, 2],
                "padding": [1, 1],
                "ceil_mode": False,
                "count_include_pad": False,
            },
        )
        self.net = Net()
        self.one(
            "adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (2, 3)), [(2, 3, 9, 9)], {"output_size": [2, 3]}
        )
        self.net = Net()
        self.one(
            "interpolate",
            lambda x: F.interpolate(x, size=(7, 5), mode="bilinear", align_corners=False),
            [(2, 3, 9, 9)],
            {"size": [7, 5], "mode": "bilinear", "align_corners": False},
        )

    def test_transposed_convolution(self):
        self.one(
            "conv_transpose2d",
            lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1),
            [(1, 4, 5, 5), (4, 6, 3, 3), (6,)],
            {"stride": [2, 2], "padding": [1, 1], "output_padding": [1, 1], "groups": 1, "dilation": [1, 1]},
        )

    def test_attention(self):
        """The functional form of nn.MultiheadAttention: self-attention with a packed projection."""
        net, width, heads = self.net, 16, 4
        x = net.input(5, 2, width)
        w, b, wo, bo = net.param(3 * width, width), net.param(3 * width), net.param(width, width), net.param(width)

        def attention(q, k, v, w, b, _0, _1, wo, bo, *rest):
            return F.multi_head_attention_forward(
                q, k, v, width, heads, w, b, None, None, False, 0.0, wo, bo, False, None, False
            )[0]

        attrs = {
            "embed_dim_to_check": width,
            "num_heads": heads,
            "add_zero_attn": False,
            "dropout_p": 0.0,
            "need_weights": False,
            "use_separate_proj_weight": False,
            "average_attn_weights": True,
        }
        net.check(
            self,
            net.call(
                "multi_head_attention_forward", attention, [x, x, x, w, b, None, None, wo, bo] + [None] * 7, attrs
            ),
        )

    def test_getitem(self):
        self.one("getitem", lambda x: x[:, 1:3, None, ..., -1], [(2, 5, 3, 4)], {"index": ":, 1:3, None, ..., -1"})

    def test_residual_network(self):
        net = self.net
        x = net.input(2, 3, 33, 33)
        x = net.relu(net.norm(net.conv(x, 16, 7, 2, 3)))
        pool = {"kernel_size": [3, 3], "stride": [2, 2], "padding": [1, 1], "dilation": [1, 1], "ceil_mode": False}
        x = net.call("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1), [x], pool)
        for out, stride in ((16, 1), (32, 2)):
            identity = x if stride == 1 else net.norm(net.conv(x, out, 1, stride, 0))
            y = net.relu(net.norm(net.conv(x, out, 3, stride, 1)))
            y = net.norm(net.conv(y, out, 3, 1, 1, groups=4))
            x = net.relu(net.call("add", lambda a, b: a.add_(b), [y, identity], inplace=True))
        x = net.call("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (1, 1)), [x], {"output_size": [1, 1]})
        x = net.call("flatten", lambda x: torch.flatten(x, 1), [x], {"start_dim": 1, "end_dim": -1})
        net.check(self, net.linear(x, 10))


if __name__ == "__main__":
    unittest.main()
