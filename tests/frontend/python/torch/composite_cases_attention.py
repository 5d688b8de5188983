"""Attention, transformers, recurrent layers and packed sequences, for composites_test.py."""
from composite_draw import BOOLS, family


def attention_masks(d, n, heads, length, source):
    """Texts of (key_padding_mask, attn_mask) choices; n is None for unbatched."""
    padding = [source] if n is None else [n, source]
    per_head = [(n or 1) * heads, length, source]
    kind = d.one("bool", "bool", "float32", "uint8")
    return (
        [d.T(padding, d.one("bool", "bool", "float32"), 1)],
        [d.T([length, source], kind, 1), d.T([length, source], "float32"), d.T(per_head, kind, 1)],
    )


def sequences(d, n, length, width, batch_first):
    if n is None:
        return [length, width]
    return [n, length, width] if batch_first else [length, n, width]


@family("F.multi_head_attention_forward")
def _(d):
    heads, head = d.one(1, 2, 3), d.one(1, 2, 4)
    e, out = heads * head, None
    n = None if d.odds(0.2) else d.size(1, 3)
    length, source = d.size(1, 4), d.size(1, 4)
    if d.odds(0.3):
        source = length
    separate = d.odds(0.3)
    k_width, v_width = (d.one(e, 3, 5), d.one(e, 3, 5)) if separate else (e, e)
    out = d.one(e, e, 1, 3, 7)
    query, key, value = (
        d.T(sequences(d, n, size, width, False)) for size, width in ((length, e), (source, k_width), (source, v_width))
    )
    bias_kv = d.odds(0.2)
    padding, masks = attention_masks(d, n, heads, length, source)
    required = [
        query,
        key,
        value,
        str(d.off(e, e + 1)),
        str(d.off(heads, heads + 1, 0, -1)),
        "None" if separate and d.odds(0.7) else d.T([3 * e, e]),
        d.one("None", d.T([3 * e])),
        d.T([1, 1, e]) if bias_kv else "None",
        d.T([1, 1, e]) if bias_kv else "None",
        d.one("False", "False", "True"),
        d.one("0.0", "0.1", "0"),
        d.T([out, e]),
        d.one("None", d.T([out])),
    ]
    statics = [(n or 1) * heads, d.one(source, 2), head]
    optional = [
        ("training", ["False"]),
        ("key_padding_mask", padding),
        ("need_weights", BOOLS),
        ("attn_mask", masks),
    ]
    named = []
    if separate:
        named = [
            "use_separate_proj_weight=True",
            "q_proj_weight=" + d.T([e, e]),
            "k_proj_weight=" + d.T([e, k_width]),
            "v_proj_weight=" + d.T([e, v_width]),
        ]
    if d.odds(0.1):
        named += ["static_k=" + d.T(statics), "static_v=" + d.T(statics)]
    if d.odds(0.3):
        named.append("average_attn_weights=" + d.one(*BOOLS))
    if d.odds(0.1):
        named.append("is_causal=" + d.one(*BOOLS))
    return d.call("F.multi_head_attention_forward", required, optional, 0.7, named)


@family("nn.MultiheadAttention")
def _(d):
    heads, head = d.one(1, 2, 3), d.one(1, 2, 4)
    e = heads * head
    n = None if d.odds(0.25) else d.size(1, 3)
    length, source = d.size(1, 4), d.size(1, 4)
    if d.odds(0.4):
        source = length
    batch_first = d.odds(0.4)
    k_width, v_width = (d.one(3, 5, e), d.one(3, 5, e)) if d.odds(0.25) else (e, e)
    made = d.call(
        "nn.MultiheadAttention",
        [str(d.off(e, e + 1, 0)), str(d.off(heads, heads + 1, 0))],
        [
            ("dropout", ["0.0", "0.1"]),
            ("bias", BOOLS),
            ("add_bias_kv", BOOLS),
            ("add_zero_attn", BOOLS),
        ],
        0.7,
    )
    widths = ""
    if k_width != e or d.odds(0.1):
        widths += ", kdim=%d" % k_width
    if v_width != e or d.odds(0.1):
        widths += ", vdim=%d" % v_width
    if batch_first:
        widths += ", batch_first=True"
    if d.odds(0.05):
        widths += ", dtype=torch.float64"
    padding, masks = attention_masks(d, n, heads, length, source)
    layer = made[:-1] + widths + ")" + d.one(".eval()", ".eval()", "")
    inputs = [d.T(sequences(d, n, s, w, batch_first)) for s, w in ((length, e), (source, k_width), (source, v_width))]
    optional = [
        ("key_padding_mask", padding),
        ("need_weights", BOOLS),
        ("attn_mask", masks),
        ("average_attn_weights", BOOLS),
        ("is_causal", BOOLS if d.odds(0.1) else ["False"]),
    ]
    if source == length and k_width == v_width == e and d.odds(0.5):  # self-attention: one tensor three times
        named = ["%s=%s" % (name, d.one(*choices)) for name, choices in optional if d.odds(0.3)]
        return d.call("(lambda m, x, **k: m(x, x, x, **k))", [layer, inputs[0]], [], 0, named)
    return d.call(layer, inputs, optional, 0.7)


@family("F.scaled_dot_product_attention")
def _(d):
    batch = d.one([], [2], [2, 3], [1, 4], [2, 1, 2])
    length, source, e, v = d.size(), d.size(), d.size(1, 5), d.size(1, 5)
    grouped = len(batch) >= 1 and d.odds(0.2)
    key_batch = list(batch)
    if grouped and batch:
        key_batch[-1] = d.one(1, batch[-1], 2)
    elif batch and d.odds(0.1):
        key_batch[d.int(0, len(batch) - 1)] = 1
    dtype = d.one("float32", "float32", "float64")
    mask = [
        d.T(d.one([length, source], batch + [length, source], [1, source], [length, 1], [source]), kind, 2)
        for kind in ("bool", dtype)
    ]
    optional = [
        ("attn_mask", mask),
        ("dropout_p", ["0.0", "0.1"]),
        ("is_causal", BOOLS),
        ("scale", ["0.5", "None", "2"]),
        ("enable_gqa", ["True"] if grouped else BOOLS),
    ]
    inputs = [d.T(batch + [length, e], dtype), d.T(key_batch + [source, e], dtype), d.T(key_batch + [source, v], dtype)]
    return d.call("F.scaled_dot_product_attention", inputs, optional, 0.65)


def hidden(d, layers, n, size):
    return d.T([layers, size] if n is None else [layers, n, size])


def recurrent(kind):
    def make(d):
        size, width = d.int(1, 4), d.int(1, 4)
        layers, both, batch_first = d.one(1, 1, 2, 3), d.odds(0.4), d.odds(0.4)
        proj = d.int(1, 3) if kind == "LSTM" and d.odds(0.3) else d.one(None, None, None, 0)
        named = []
        if layers > 1 or d.odds(0.2):
            named.append("num_layers=%s" % d.off(layers, 0, -1, "1.5", "'x'"))
        if d.odds(0.3):
            named.append("bias=%s" % d.one(*BOOLS))
        if batch_first:
            named.append("batch_first=True")
        if d.odds(0.2):
            named.append("dropout=%s" % d.off(d.one("0.0", "0.3", "1", "0"), "-0.1", "1.5", "True", "'x'"))
        if both:
            named.append("bidirectional=True")
        if proj is not None:
            named.append("proj_size=%d" % d.off(proj, -1))
        if kind == "RNN" and d.odds(0.4):
            named.append("nonlinearity=%s" % d.off(d.one("'tanh'", "'relu'"), "'gelu'", "None"))
        if d.odds(0.05):
            named.append("dtype=torch.float64")
        made = d.call("nn." + kind, [str(size), str(d.off(width, 0, -1))] + named) + ".eval()"
        n, length = None if d.odds(0.25) else d.size(1, 3), d.size(1, 4)
        double = "dtype=" in made
        dtype = "float64" if double and d.odds(0.9) else "float32"
        directions = layers * (2 if both else 1)
        out = proj if proj and kind == "LSTM" else width
        packed = n and length and d.odds(0.25)
        if packed:
            lengths = sorted((d.int(1, length) for _ in range(n)), reverse=not d.fires(0.2))
            lengths[0] = length
            x = d.call(
                "nn.utils.rnn.pack_padded_sequence",
                [d.T(sequences(d, n, length, size, batch_first), dtype), repr(lengths)],
            )
            if batch_first:
                x = x[:-1] + ", batch_first=True)"
            if d.odds(0.4):
                x = x[:-1] + ", enforce_sorted=False)"
        else:
            x = d.T(sequences(d, n, length, size, batch_first), dtype)
        state = []
        if d.odds(0.5):
            h = d.T([directions] + ([] if n is None else [n]) + [out], dtype)
            state = ["(%s, %s)" % (h, d.T([directions] + ([] if n is None else [n]) + [width], dtype))]
            if kind != "LSTM" or d.fires(0.1):
                state = [h]
        text = d.call(made, [x] + state)
        return text

    return make


for name in ("LSTM", "GRU", "RNN"):
    family("nn." + name)(recurrent(name))


@family("nn.RNNCell LSTMCell GRUCell")
def _(d):
    kind, size, width = d.one("RNNCell", "LSTMCell", "GRUCell"), d.int(1, 4), d.int(1, 4)
    optional = [("bias", BOOLS)]
    if kind == "RNNCell":
        optional.append(("nonlinearity", ["'tanh'", "'relu'"]))
    n = None if d.odds(0.3) else d.size(1, 3)
    batch = [] if n is None else [n]
    state = []
    if d.odds(0.6):
        h = d.T(batch + [width])
        state = ["(%s, %s)" % (h, d.T(batch + [width]))] if kind == "LSTMCell" and not d.fires(0.1) else [h]
    made = d.call("nn." + kind, [str(size), str(width)], optional)
    return d.call(made, [d.T(batch + [size])] + state)


@family("torch.lstm_cell gru_cell rnn_cell")
def _(d):
    kind, size, width, n = (
        d.one("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"),
        d.size(),
        d.size(),
        d.size(),
    )
    gates = {"lstm_cell": 4, "gru_cell": 3}.get(kind, 1) * width
    h = d.T([n, width])
    state = "(%s, %s)" % (h, d.T([n, width])) if kind == "lstm_cell" else h
    required = [d.T([n, size]), state, d.T([gates, size]), d.T([gates, width])]
    if d.odds(0.6):
        required += [d.T([gates]), d.T([gates])]
    return d.call("torch." + kind, required)


@family("nn.utils.rnn")
def _(d):
    n, length, width = d.int(1, 3), d.int(1, 5), d.one([], [2], [2, 3])
    batch_first = d.odds(0.4)
    space = "nn.utils.rnn."
    lengths = sorted((d.int(1, length) for _ in range(n)), reverse=not d.odds(0.3))
    lengths = d.off(lengths, [0] + lengths[1:], lengths + [1])
    lengths = d.one(repr(lengths), "C(%r, 'int64')" % lengths, "C(%r, 'int64')" % lengths)
    batch = d.T(([n, length] if batch_first else [length, n]) + width)
    first = "batch_first=%s" % batch_first if batch_first or d.odds(0.2) else ""
    tensors = "[%s]" % ", ".join(d.T([d.int(1, 4)] + width) for _ in range(d.off(d.int(1, 3), 0)))
    padding = "padding_value=%s" % d.one("0.0", "-1", "1.5") if d.odds(0.3) else ""
    pack = "%spack_padded_sequence(%s)" % (
        space,
        ", ".join(t for t in (batch, lengths, first, "enforce_sorted=False" if d.odds(0.5) else "") if t),
    )
    what = d.int(0, 5)
    if what == 0:
        return pack
    if what == 1:
        rest = ["total_length=%d" % d.off(d.int(5, 7), 1, -1)] if d.odds(0.4) else []
        rest += [t for t in (padding, d.one("", "batch_first=True")) if t]
        return d.call(space + "pad_packed_sequence", [pack] + rest)
    if what == 2:
        rest = [
            t
            for t in (
                first,
                padding,
                "padding_side=%s" % d.off(d.one("'left'", "'right'"), "'x'") if d.odds(0.15) else "",
            )
            if t
        ]
        return d.call(space + "pad_sequence", [tensors] + rest)
    if what == 3:
        return d.call(space + "pack_sequence", [tensors, "enforce_sorted=False"] if d.odds(0.7) else [tensors])
    if what == 4:
        return d.call(space + "unpad_sequence", [batch, lengths] + ([first] if first else []))
    return d.call(
        space + "unpack_sequence", [d.one(pack, "%spack_sequence(%s, enforce_sorted=False)" % (space, tensors))]
    )


def layer_options(d):
    return [
        ("dim_feedforward", ["1", "5", "8"]),
        ("dropout", ["0.0", "0.1"]),
        ("activation", ["'relu'", "'gelu'", "F.relu", "F.gelu", "torch.tanh", "nn.GELU()"]),
        ("layer_norm_eps", ["1e-5", "1e-3"]),
    ]


def layer(d, kind, e, heads, flags):
    text = d.call("nn." + kind, [str(e), str(heads)], layer_options(d), 0.6)
    return text[:-1] + flags + ")"


def masks_of(d, names, n, heads):
    """[(name, [texts])] of attention masks (L, S) and padding masks (N, S)."""
    out = []
    for name, length, source in names:
        if length is None:
            out.append((name, [d.T(([] if n is None else [n]) + [source], d.one("bool", "bool", "float32"), 1)]))
        else:
            kinds = [d.T([length, source], "bool", 1), d.T([length, source]), d.T([heads * (n or 1), length, source])]
            out.append((name, kinds + ["nn.Transformer.generate_square_subsequent_mask(%d)" % source]))
    return out


@family("nn.TransformerLayers")
def _(d):
    heads = d.one(1, 2)
    e = heads * d.one(1, 2, 3)
    n, length, source = None if d.odds(0.25) else d.size(1, 3), d.size(1, 4), d.size(1, 4)
    batch_first = d.odds(0.4)
    flags = (", batch_first=True" if batch_first else "") + (", norm_first=True" if d.odds(0.3) else "")
    flags += ", bias=False" if d.odds(0.07) else ""
    x, memory = d.T(sequences(d, n, length, e, batch_first)), d.T(sequences(d, n, source, e, batch_first))
    norm = d.one("", "", ", norm=nn.LayerNorm(%d)" % d.off(e, e + 1))
    causal = [("is_causal", BOOLS)] if d.odds(0.1) else []
    if d.odds(0.5):
        made, masks = layer(d, "TransformerEncoderLayer", d.off(e, e + 1), heads, flags), "src_mask"
        if d.odds(0.5):
            made, masks = "nn.TransformerEncoder(%s, %s%s)" % (made, d.off(d.one(1, 2), 0, "'x'"), norm), "mask"
            if d.odds(0.2):
                made = made[:-1] + ", enable_nested_tensor=False)"
        optional = masks_of(d, [(masks, length, length), ("src_key_padding_mask", None, length)], n, heads) + causal
        return d.call(made + d.one(".eval()", ".eval()", ""), [x], optional, 0.7)
    made = layer(d, "TransformerDecoderLayer", d.off(e, e + 1), heads, flags)
    if d.odds(0.5):
        made = "nn.TransformerDecoder(%s, %s%s)" % (made, d.off(d.one(1, 2), 0), norm)
    names = [
        ("tgt_mask", length, length),
        ("memory_mask", length, source),
        ("tgt_key_padding_mask", None, length),
        ("memory_key_padding_mask", None, source),
    ]
    if causal:
        causal = [("tgt_is_causal", BOOLS), ("memory_is_causal", BOOLS)]
    return d.call(made + ".eval()", [x, memory], masks_of(d, names, n, heads) + causal, 0.75)


@family("nn.Transformer")
def _(d):
    heads = d.one(1, 2)
    e = heads * d.one(1, 2, 3)
    n, length, source = None if d.odds(0.25) else d.size(1, 3), d.size(1, 4), d.size(1, 4)
    batch_first = d.odds(0.4)
    flags = ", num_encoder_layers=%s, num_decoder_layers=%s" % (d.one(1, 2), d.off(1, 0, -1))
    flags += (", batch_first=True" if batch_first else "") + (", norm_first=True" if d.odds(0.3) else "")
    made = layer(d, "Transformer", d.off(e, e + 1), heads, flags)
    x, tgt = d.T(sequences(d, n, source, e, batch_first)), d.T(sequences(d, n, length, e, batch_first))
    names = [
        ("src_mask", source, source),
        ("tgt_mask", length, length),
        ("memory_mask", length, source),
        ("src_key_padding_mask", None, source),
        ("tgt_key_padding_mask", None, length),
        ("memory_key_padding_mask", None, source),
    ]
    causal = [("src_is_causal", BOOLS), ("tgt_is_causal", BOOLS)] if d.odds(0.1) else []
    return d.call(made + d.one(".eval()", ""), [x, tgt], masks_of(d, names, n, heads) + causal, 0.8)


@family("F.embedding_bag nn.EmbeddingBag")
def _(d):
    rows, width = d.int(1, 6), d.size(1, 4)
    dtype = d.one("int64", "int64", "int32")
    flat = d.odds(0.5)
    shape = [d.size(1, 6)] if flat else [d.size(1, 3), d.size(1, 4)]
    bags = d.size(1, 3)
    indices = d.T(shape, dtype, rows)
    offsets = [
        d.T([bags], dtype, 1),
        "C(%r, %r)" % (([0] + sorted(d.int(0, shape[0]) for _ in range(bags)))[: max(bags, 1)], dtype),
    ]
    weights = [d.T(shape)]
    with_offsets = flat != d.fires(0.2)
    mode = ["'sum'", "'mean'", "'max'", "'x'" if d.fires(0.3) else "'sum'"]
    shared = [
        ("max_norm", ["1.0", "None"]),
        ("norm_type", ["2.0", "1"]),
        ("scale_grad_by_freq", ["False", "False", "True"]),
    ]
    last = [("include_last_offset", BOOLS), ("padding_idx", [str(d.off(0, rows, -rows - 1)), "-1", "None"])]
    per = [("per_sample_weights", weights)]
    if d.odds(0.5):
        optional = shared + [("mode", mode), ("sparse", BOOLS)] + (per if d.odds(0.4) else []) + last
        named = ["offsets=%s" % d.one(*offsets)] if with_offsets else []
        required = [indices, d.T([rows, width])]
        if d.odds(0.05):
            required.reverse()
        return d.call("F.embedding_bag", required, [] if d.odds(0.3) else optional, 0.65, named)
    made = d.call(
        "nn.EmbeddingBag", [str(rows), str(d.off(width, -1))], shared + [("mode", mode), ("sparse", BOOLS)], 0.7
    )
    made = made[:-1] + "".join(", %s=%s" % (n, d.one(*c)) for n, c in last if d.odds(0.25)) + ")"
    return d.call(made, [indices] + ([d.one(*offsets)] if with_offsets else []), per if d.odds(0.4) else [], 0.5)


@family("F.embedding nn.Embedding F.one_hot")
def _(d):
    rows, width = d.int(1, 6), d.size(1, 4)
    indices = d.T(d.shape(0, 3), d.one("int64", "int64", "int32", "uint8"), rows)
    what = d.int(0, 3)
    options = [
        ("padding_idx", [str(d.off(0, rows, -rows - 1)), "-1", "None"]),
        ("max_norm", ["1.0"]),
        ("norm_type", ["2.0", "1"]),
        ("scale_grad_by_freq", BOOLS),
        ("sparse", BOOLS),
    ]
    if what == 0:
        return d.call("F.embedding", [indices, d.T([rows, width])], options, 0.7)
    if what == 1:
        return d.call(d.call("nn.Embedding", [str(rows), str(width)], options, 0.7), [indices])
    if what == 2:
        constant = d.C(d.shape(0, 2), d.one("int64", "int64", "int64", "int32", "float32"), 0, 4)
        return d.call("F.one_hot", [constant], [("num_classes", [str(d.off(5, 2, 0, -2)), "-1", "6"])], 0.4)
    return d.call("F.one_hot", [d.T(d.shape(0, 2), "int64", 3), str(d.off(d.int(3, 6), 0, -1))])
