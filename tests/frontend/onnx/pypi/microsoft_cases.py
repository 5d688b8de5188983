#!/usr/bin/env python3
"""Writes models of one operator of the domain com.microsoft each, with what ONNX Runtime computes,
for onnx_conformance.

    microsoft_cases.py FOLDER"""
import sys

import numpy as np
from onnx import TensorProto, helper

import cases

RANDOM = np.random.default_rng(7)
KINDS = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "int32": TensorProto.INT32}
KINDS.update({"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "bool": TensorProto.BOOL})


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def bytes_(*shape, signed=False):
    return RANDOM.integers(-128 if signed else 0, 128 if signed else 256, shape).astype(np.int8 if signed else np.uint8)


def scale(value):
    return np.array(value, np.float32)


def u8(value):
    return np.array(value, np.uint8)


def s8(value):
    return np.array(value, np.int8)


CASES = []


def case(op, inputs, outputs=1, weights=(), domain="com.microsoft", name="", **attributes):
    """`inputs`: arrays, or None for an input that is left out; those at the positions `weights` are
    initialisers. `outputs`: how many, or a list in which an empty name leaves one out."""
    CASES.append((op, inputs, outputs, set(weights), domain, name, attributes))


def convolutions():
    x, w, b = floats(1, 4, 9, 9), floats(6, 4, 3, 3), floats(6)
    for activation in ("Relu", "Sigmoid", "Tanh"):
        case("FusedConv", [x, w, b], weights=(1, 2), activation=activation, pads=[1, 1, 1, 1])
    case("FusedConv", [x, w], weights=(1,), activation="LeakyRelu", activation_params=[0.1], strides=[2, 2])
    case("FusedConv", [x, w, b], weights=(1, 2), activation="Clip", activation_params=[0.0, 6.0], dilations=[2, 2])
    case("FusedConv", [x, w, b], weights=(1, 2), activation="HardSigmoid", activation_params=[0.2, 0.5])
    case("FusedConv", [x, w, b, floats(1, 6, 7, 7)], weights=(1, 2), activation="Relu")
    case("FusedConv", [x, w, b], weights=(1, 2), activation="Relu", auto_pad="SAME_UPPER", strides=[2, 2])
    case("FusedConv", [floats(2, 3, 12), floats(4, 3, 5)], weights=(1,), activation="Relu", group=1)
    case("FusedConv", [x, floats(8, 2, 3, 3)], weights=(1,), activation="Relu", group=2, pads=[0, 1, 2, 1])
    case("NhwcMaxPool", [bytes_(1, 8, 8, 4)], kernel_shape=[2, 2], strides=[2, 2])
    case("NhwcMaxPool", [bytes_(1, 8, 8, 4, signed=True)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])


def products():
    case("FusedMatMul", [floats(2, 3, 4), floats(2, 4, 5)], alpha=0.5)
    case("FusedMatMul", [floats(2, 4, 3), floats(2, 5, 4)], transA=1, transB=1, alpha=2.0)
    case("FusedMatMul", [floats(3, 4), floats(5, 4)], weights=(1,), transB=1)
    case("FusedMatMul", [floats(2, 3, 4), floats(4, 5)], weights=(1,), alpha=0.25)
    case("FusedMatMul", [floats(3, 2, 4), floats(2, 4, 5)], transBatchA=1)
    case("FusedMatMul", [floats(2, 3, 4), floats(4, 2, 5)], transBatchB=1)
    case("FusedMatMul", [floats(3, 2, 4), floats(5, 2, 4)], transBatchA=1, transBatchB=1, transB=1)
    case("FusedMatMul", [floats(4, 2, 3), floats(2, 4, 5)], transA=1, transBatchA=1)
    case("TransposeMatMul", [floats(4, 3), floats(4, 5)], transA=1)
    for activation in ("Relu", "Sigmoid", "Tanh", "LeakyRelu"):
        case("FusedGemm", [floats(3, 4), floats(4, 5), floats(5)], weights=(1, 2), activation=activation)
    case(
        "FusedGemm",
        [floats(4, 3), floats(5, 4), floats(3, 5)],
        transA=1,
        transB=1,
        alpha=0.5,
        beta=2.0,
        activation="Relu",
    )
    case("FusedGemm", [floats(3, 4), floats(4, 5)], activation="LeakyRelu", activation_alpha=0.3, alpha=2.0)


def activations():
    case("Gelu", [floats(2, 3, 8)])
    case("BiasGelu", [floats(2, 3, 8), floats(8)], weights=(1,))
    case("FastGelu", [floats(2, 3, 8)])
    case("FastGelu", [floats(2, 3, 8), floats(8)], weights=(1,))
    case("QuickGelu", [floats(2, 3, 8)])
    case("QuickGelu", [floats(2, 3, 8)], alpha=1.0)
    case("QuickGelu", [floats(2, 3, 8)], alpha=0.5)
    case("BiasSplitGelu", [floats(1, 3, 16), floats(16)], weights=(1,))
    case("BiasAdd", [floats(1, 3, 16), floats(16), floats(1, 3, 16)], weights=(1,))
    case("BiasSoftmax", [floats(2, 4, 6, 6), floats(2, 1, 1, 6)], axis=3, is_inner_broadcast=1)


def normalizations():
    x, skip, gamma, beta, bias = floats(2, 5, 8), floats(2, 5, 8), floats(8), floats(8), floats(8)
    op = "SkipLayerNormalization"
    case(op, [x, skip, gamma, beta], weights=(2, 3), epsilon=1e-5)
    case(op, [x, skip, gamma, beta, bias], weights=(2, 3, 4), epsilon=1e-12)
    case(op, [x, skip, gamma], weights=(2,))
    case(op, [x, skip, gamma, beta, bias], outputs=["y", "", "", "sum"], weights=(2, 3, 4))
    case(op, [x, floats(1, 5, 8), gamma, beta], weights=(2, 3))
    case(op, [x, floats(5, 8), gamma, beta], weights=(2, 3))
    op = "SkipSimplifiedLayerNormalization"
    case(op, [x, skip, gamma], weights=(2,), epsilon=1e-6)
    case(op, [x, skip, gamma, bias], outputs=["y", "", "", "sum"], weights=(2, 3))
    case("SimplifiedLayerNormalization", [x, gamma], weights=(1,), domain="", epsilon=1e-5, axis=-1, stash_type=1)
    ids, segments = RANDOM.integers(0, 20, (2, 6)).astype(np.int32), RANDOM.integers(0, 2, (2, 6)).astype(np.int32)
    mask = np.array([[1] * 6, [1] * 4 + [0] * 2], np.int32)
    tables = [floats(20, 8), floats(10, 8), floats(2, 8), gamma, beta]
    op = "EmbedLayerNormalization"
    case(op, [ids, segments, *tables, mask], outputs=2, weights=range(2, 7), epsilon=1e-12)
    case(op, [ids, segments, *tables, mask], outputs=3, weights=range(2, 7))
    case(op, [ids, None, tables[0], tables[1], None, gamma, beta], outputs=2, weights=range(2, 7))
    positions = RANDOM.integers(0, 10, (2, 6)).astype(np.int32)
    case(op, [ids, segments, *tables, mask, positions], outputs=2, weights=range(2, 7))
    for activation in (0, 1):
        case("GroupNorm", [floats(1, 4, 4, 8), floats(8), floats(8)], weights=(1, 2), groups=4, activation=activation)


def attention():
    x, w, b = floats(2, 5, 16), floats(16, 48), floats(48)
    lengths = np.array([5, 3], np.int32)
    mask = np.array([[1] * 5, [1] * 3 + [0] * 2], np.int32)
    case("Attention", [x, w, b], weights=(1, 2), num_heads=4)
    case("Attention", [x, w, b], weights=(1, 2), num_heads=4, unidirectional=1)
    case("Attention", [x, w, b], weights=(1, 2), num_heads=4, scale=0.3)
    case("Attention", [x, w, b, mask], weights=(1, 2), num_heads=4)
    case("Attention", [x, w, b, mask], weights=(1, 2), num_heads=4, unidirectional=1)
    case("Attention", [x, w, b, lengths], weights=(1, 2), num_heads=4)
    case("Attention", [x, w, b, np.array([5, 4, 0, 1], np.int32)], weights=(1, 2), num_heads=4)
    case("Attention", [x, w, b, RANDOM.integers(0, 2, (2, 5, 5)).astype(np.int32)], weights=(1, 2), num_heads=4)
    case("Attention", [x, floats(16, 40), floats(40)], weights=(1, 2), num_heads=4, qkv_hidden_sizes=[16, 16, 8])
    past = floats(2, 2, 4, 3, 4)
    case("Attention", [x, w, b, None, past], outputs=2, weights=(1, 2), num_heads=4)
    case("Attention", [x, w, b, None, past], outputs=2, weights=(1, 2), num_heads=4, unidirectional=1)
    case("Attention", [x, w, b, None, None, floats(2, 4, 5, 5)], weights=(1, 2), num_heads=4)
    case("Attention", [x, w, b, mask, None, floats(1, 4, 5, 5)], weights=(1, 2), num_heads=4)
    op, q, k, v = "MultiHeadAttention", floats(2, 5, 16), floats(2, 7, 16), floats(2, 7, 16)
    keys = np.array([[1] * 7, [1] * 4 + [0] * 3], np.int32)
    case(op, [q, k, v], num_heads=4)
    case(op, [q, k, v, floats(48)], weights=(3,), num_heads=4)
    case(op, [q, k, v, floats(48), keys], weights=(3,), num_heads=4, mask_filter_value=-1000.0)
    case(op, [q, k, v, None, np.array([7, 4], np.int32)], num_heads=4)
    case(op, [q, k, v, None, None, floats(2, 4, 5, 7)], num_heads=4)
    case(op, [q, k, v, None, None, floats(1, 1, 5, 7)], num_heads=4, scale=0.5)
    case(op, [q, k, floats(2, 7, 8)], num_heads=4)
    case(op, [q, floats(2, 4, 7, 4), floats(2, 4, 7, 4)], num_heads=4)
    same = [floats(2, 5, 16) for _ in range(3)]
    case(op, same, num_heads=4, unidirectional=1)
    pasts = [None, None, None, floats(2, 4, 3, 4), floats(2, 4, 3, 4)]
    case(op, [*same, *pasts], outputs=3, num_heads=4)
    case(op, [*same, *pasts], outputs=3, num_heads=4, unidirectional=1)
    case(
        "QAttention",
        [bytes_(2, 5, 16), bytes_(16, 48, signed=True), b, scale(0.02), scale(0.01), None, u8(120), s8(3)],
        weights=(1, 2, 3, 4, 6, 7),
        num_heads=4,
    )
    case(
        "QAttention",
        [bytes_(2, 5, 16), bytes_(16, 48), b, scale(0.02), scale(0.01), mask, u8(120), u8(130)],
        weights=(1, 2, 3, 4, 6, 7),
        num_heads=4,
    )


def group_query():
    op, cosine, sine = "GroupQueryAttention", np.cos(floats(32, 8)), np.sin(floats(32, 8))
    for batch in (1, 2):
        q, k, v = floats(batch, 5, 64), floats(batch, 5, 32), floats(batch, 5, 32)
        lengths, total = np.full(batch, 4, np.int32), np.array(5, np.int32)
        weights = (5, 6) if batch > 1 else (6,)
        heads = {"num_heads": 4, "kv_num_heads": 2, "outputs": 3}
        case(op, [q, k, v, None, None, lengths, total], weights=weights, **heads)
        case(op, [q, k, v, None, None, lengths, total], weights=weights, scale=0.2, **heads)
        case(op, [q, k, v, None, None, lengths, total, cosine, sine], weights=(*weights, 7, 8), do_rotary=1, **heads)
        case(
            op,
            [q, k, v, None, None, lengths, total, cosine, sine],
            weights=(*weights, 7, 8),
            do_rotary=1,
            rotary_interleaved=1,
            **heads,
        )
        case(op, [q, k, v, None, None, lengths, total], weights=weights, local_window_size=2, **heads)
        case(op, [q, k, v, None, None, lengths, total], weights=weights, local_window_size=1, **heads)
        case(op, [q, k, v, None, None, lengths, total], weights=weights, softcap=3.0, **heads)
        case(op, [floats(batch, 5, 128), None, None, None, None, lengths, total], weights=weights, **heads)
        case(op, [q, k, v, None, None, lengths, total, None, None, None, floats(1, 4, 5, 5)], weights=weights, **heads)
        past = [floats(batch, 2, 3, 16), floats(batch, 2, 3, 16)]
        one = [floats(batch, 1, 64), floats(batch, 1, 32), floats(batch, 1, 32)]
        end = [np.full(batch, 3, np.int32), np.array(4, np.int32)]
        case(op, [*one, *past, *end], weights=weights, **heads)
        case(op, [*one, *past, *end, cosine, sine], weights=(*weights, 7, 8), do_rotary=1, **heads)
        case(op, [*one, *past, *end], weights=weights, local_window_size=2, **heads)
    positions = [np.array([0], np.int64), np.array([[3, 4, 5, 6, 7]], np.int64)]
    for ids in positions:
        case("RotaryEmbedding", [floats(1, 5, 32), ids, cosine, sine], weights=(2, 3))
        case("RotaryEmbedding", [floats(1, 4, 5, 16), ids, cosine, sine], weights=(2, 3), interleaved=1)
        case(
            "RotaryEmbedding",
            [floats(1, 5, 128), ids, cosine, sine],
            weights=(2, 3),
            num_heads=4,
            rotary_embedding_dim=16,
        )


def quantized():
    for signed, zero in ((False, u8), (True, s8)):
        a, b = bytes_(2, 3, 4, 5, signed=signed), bytes_(2, 3, 4, 5, signed=signed)
        for op in ("QLinearAdd", "QLinearMul"):
            case(op, [a, scale(0.1), zero(4), b, scale(0.05), zero(9), scale(0.2), zero(1)], weights=(1, 2, 4, 5, 6, 7))
            case(
                op,
                [a, scale(0.1), zero(4), b[:1, :, :1], scale(0.05), zero(9), scale(0.2), zero(1)],
                weights=(1, 2, 4, 5, 6, 7),
            )
        rest = [scale(0.05), zero(7), scale(0.04), zero(3)]
        case("QLinearSigmoid", [a, *rest[:2], scale(1 / 256), zero(0)], weights=(1, 2, 3, 4))
        case("QLinearLeakyRelu", [a, *rest], weights=(1, 2, 3, 4), alpha=0.2)
        case("QLinearSoftmax", [a, *rest[:2], scale(1 / 256), zero(0)], weights=(1, 2, 3, 4), axis=-1, opset=13)
        case("QLinearSoftmax", [a, *rest[:2], scale(1 / 256), zero(0)], weights=(1, 2, 3, 4), axis=2, opset=12)
        image = bytes_(1, 6, 6, 4, signed=signed)
        for last in (0, 1):
            case(
                "QLinearAveragePool",
                [image, *rest],
                weights=(1, 2, 3, 4),
                kernel_shape=[2, 2],
                strides=[2, 2],
                channels_last=last,
            )
            case(
                "QLinearAveragePool",
                [image, *rest],
                weights=(1, 2, 3, 4),
                kernel_shape=[3, 3],
                pads=[1, 1, 1, 1],
                channels_last=last,
            )
            case("QLinearGlobalAveragePool", [image, *rest], weights=(1, 2, 3, 4), channels_last=last)
        case(
            "QLinearConcat",
            [scale(0.1), zero(2), a, scale(0.1), zero(4), b, scale(0.05), zero(9)],
            weights=(0, 1, 3, 4, 6, 7),
            axis=1,
        )
        condition = RANDOM.integers(0, 2, (2, 3, 4, 5)).astype(bool)
        case(
            "QLinearWhere",
            [condition, a, scale(0.1), zero(4), b, scale(0.05), zero(9), scale(0.1), zero(2)],
            weights=range(2, 9),
        )
    x, w = bytes_(1, 8, 8, 4), bytes_(6, 4, 3, 3, signed=True)
    bias, weights = RANDOM.integers(-500, 500, 6).astype(np.int32), range(1, 9)
    case(
        "QLinearConv",
        [x, scale(0.02), u8(120), w, scale(0.01), s8(0), scale(0.1), u8(128), bias],
        weights=weights,
        channels_last=1,
        pads=[1, 1, 1, 1],
    )
    each = np.abs(floats(6)) / 50 + np.float32(0.005)
    zeros = np.zeros(6, np.int8)
    case(
        "QLinearConv",
        [x, scale(0.02), u8(120), w, each, zeros, scale(0.1), u8(128), bias],
        weights=weights,
        channels_last=1,
        strides=[2, 2],
    )
    a, b, c = bytes_(3, 8), bytes_(8, 5, signed=True), RANDOM.integers(-500, 500, 5).astype(np.int32)
    case("QGemm", [a, scale(0.02), u8(120), b, scale(0.01), s8(0), c, scale(0.05), u8(100)], weights=range(1, 9))
    case(
        "QGemm",
        [a, scale(0.02), u8(120), b, np.abs(floats(5)) / 50, np.zeros(5, np.int8), c, None, None],
        weights=range(1, 9),
    )
    case(
        "QGemm",
        [a, scale(0.02), u8(120), np.ascontiguousarray(b.T), scale(0.01), s8(0), None, scale(0.05), u8(100)],
        weights=range(1, 9),
        transB=1,
        alpha=1.5,
    )
    x, w = bytes_(2, 3, 8), bytes_(8, 5, signed=True)
    case("MatMulIntegerToFloat", [x, w, scale(0.02), scale(0.01), u8(120), s8(3), floats(5)], weights=range(1, 7))
    case("MatMulIntegerToFloat", [x, w, scale(0.02), np.abs(floats(5)) / 50, u8(120)], weights=range(1, 7))
    case("DynamicQuantizeMatMul", [floats(2, 3, 8), w, scale(0.01), s8(3), floats(5)], weights=range(1, 5))
    case("DynamicQuantizeMatMul", [floats(2, 3, 8), w, np.abs(floats(5)) / 50], weights=range(1, 5))


def blocks():
    n, k, size = 5, 40, 16
    per_row = -(-k // size)
    for bits in (4, 8, 2):
        w, s = bytes_(n, per_row, size * bits // 8), np.abs(floats(n, per_row)) / 10
        zeros = bytes_(n, (per_row * bits + 7) // 8)
        settings = {"N": n, "K": k, "block_size": size, "bits": bits}
        case("MatMulNBits", [floats(2, 3, k), w, s], weights=(1, 2), **settings)
        case("MatMulNBits", [floats(2, 3, k), w, s, zeros], weights=(1, 2, 3), **settings)
    case(
        "MatMulNBits",
        [floats(3, k), w, s, np.abs(floats(n, per_row)), None, floats(n)],
        weights=(1, 2, 3, 5),
        **settings,
    )


def model(op, inputs, outputs, weights, domain, attributes):
    names = ["" if value is None else f"i{i}" for i, value in enumerate(inputs)]
    results = outputs if isinstance(outputs, list) else [f"o{k}" for k in range(outputs)]
    present = [(i, names[i], value) for i, value in enumerate(inputs) if value is not None]
    free = [helper.make_tensor_value_info(n, KINDS[v.dtype.name], v.shape) for i, n, v in present if i not in weights]
    fixed = [
        helper.make_tensor(n, KINDS[v.dtype.name], v.shape, v.tobytes(), raw=True)
        for i, n, v in present
        if i in weights
    ]
    node = helper.make_node(op, names, results, name=op, domain=domain, **attributes)
    infos = [helper.make_empty_tensor_value_info(name) for name in results if name]
    graph = helper.make_graph([node], op, free, infos, fixed)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), [v for i, _, v in present if i not in weights]


def main():
    for family in (convolutions, products, activations, normalizations, attention, group_query, quantized, blocks):
        family()
    written, refused = 0, {}
    for number, (op, inputs, outputs, weights, domain, name, attributes) in enumerate(CASES):
        proto, free = model(op, inputs, outputs, weights, domain, attributes)
        try:
            run = cases.session(proto.SerializeToString())
            results = run.run(None, {i.name: value for i, value in zip(run.get_inputs(), free)})
        except Exception as error:  # ONNX Runtime has no kernel for processors, or refuses the attributes
            refused.setdefault(str(error).splitlines()[0][:160], []).append(f"{op}_{number}")
            continue
        cases.write(sys.argv[1], f"{op}_{number}", proto, free, results)
        written += 1
    print(
        f"{written} cases of {len({c[0] for c in CASES})} operators, {len(CASES) - written} that ONNX Runtime does not run on processors"
    )
    for reason, names in refused.items():
        print(f"  {', '.join(names)}: {reason}")


main()
