"""The second half of torch_cases.py: convolutions, pools, norms, products, linear algebra, spectra,
losses, creation."""
# Long because it is a list of functions, each with the calls to make of it.
from torch_cases import ANY, CASES, FLOATS, NUMBERS, T, call, case, dim, dims, like, some_dims, wrong


def spatial(r, n, lo=4, hi=9):
    return [r.randint(lo, hi) for _ in range(n)]


def ints(r, n, choices):
    if r.random() < 0.5:
        return "%d" % r.choice(choices)
    return repr(tuple(r.choice(choices) for _ in range(n)))


# ---- convolutions
def conv(n):
    def make(r):
        groups = r.choice([1, 1, 2])
        cin, cout = groups * r.randint(1, 3), groups * r.randint(1, 3)
        batch = [r.randint(1, 2)] if not wrong(r, 0.1) else []
        x = T(batch + [cin + wrong(r)] + spatial(r, n))
        w = T(
            [cout, cin // groups] + [r.choice([1, 2, 3]) for _ in range(n)],
            "float32" if not wrong(r, 0.03) else "float64",
        )
        bias = T([cout + wrong(r, 0.03)]) if r.random() < 0.4 else "None"
        padding = r.choice(["'same'", "'valid'"]) if r.random() < 0.15 else ints(r, n, [0, 1, 2])
        stride = "1" if "same" in padding and not wrong(r) else ints(r, n, [1, 2])
        return "F.conv%dd(%s, %s, %s, stride=%s, padding=%s, dilation=%s, groups=%d)" % (
            n,
            x,
            w,
            bias,
            stride,
            padding,
            ints(r, n, [1, 1, 2]),
            groups,
        )

    CASES["F.conv%dd" % n] = make

    def transposed(r):
        groups = r.choice([1, 1, 2])
        cin, cout = groups * r.randint(1, 3), r.randint(1, 3)
        x = T([r.randint(1, 2), cin + wrong(r)] + spatial(r, n, 2, 5))
        w = T([cin, cout] + [r.choice([2, 3, 4]) for _ in range(n)])
        return "F.conv_transpose%dd(%s, %s, None, stride=%s, padding=%s, output_padding=%s, groups=%d, dilation=%s)" % (
            n,
            x,
            w,
            ints(r, n, [1, 2, 2]),
            ints(r, n, [0, 1]),
            r.choice(["0", "0", "1"]),
            groups,
            r.choice(["1", "1", "2"]),
        )

    CASES["F.conv_transpose%dd" % n] = transposed


for n in (1, 2, 3):
    conv(n)


@case("F.unfold")
def _(r):
    return "F.unfold(%s, %s, dilation=%s, padding=%s, stride=%s)" % (
        T(([r.randint(1, 2)] if not wrong(r) else []) + [r.randint(1, 3)] + spatial(r, 2)),
        ints(r, 2, [1, 2, 3]),
        r.choice(["1", "2"]),
        ints(r, 2, [0, 1]),
        ints(r, 2, [1, 2]),
    )


@case("F.fold")
def _(r):
    h, w, k, s = r.randint(4, 8), r.randint(4, 8), r.choice([1, 2, 3]), r.choice([1, 2])
    blocks = ((h - k) // s + 1) * ((w - k) // s + 1)
    return "F.fold(%s, (%d, %d), %d, stride=%d)" % (T([2, 2 * k * k + wrong(r), blocks + wrong(r)]), h, w, k, s)


# ---- pools
def pool(n):
    def max_pool(r):
        x = T(([2] if r.random() < 0.85 else []) + [3] + spatial(r, n) + ([3] if wrong(r, 0.03) else []))
        return "F.max_pool%dd(%s, %s, %s, %s, %s, ceil_mode=%s, return_indices=%s)" % (
            n,
            x,
            ints(r, n, [2, 3]),
            r.choice(["None", "1", "2", "3"]),
            ints(r, n, [0, 0, 1, 2]),
            r.choice(["1", "1", "2"]),
            r.choice(["True", "False"]),
            r.choice(["True", "False"]),
        )

    CASES["F.max_pool%dd" % n] = max_pool

    def avg_pool(r):
        x = T(([2] if r.random() < 0.85 else []) + [3] + spatial(r, n), r.choice(FLOATS))
        return "F.avg_pool%dd(%s, %s, %s, %s, ceil_mode=%s, count_include_pad=%s)" % (
            n,
            x,
            ints(r, n, [2, 3, 9] if wrong(r) else [2, 3]),
            r.choice(["None", "1", "2"]),
            ints(r, n, [0, 0, 1, 2]),
            r.choice(["True", "False"]),
            r.choice(["True", "False"]),
        )

    CASES["F.avg_pool%dd" % n] = avg_pool

    def adaptive(r):
        x = T(([2] if r.random() < 0.85 else []) + [3] + spatial(r, n) + ([3] if wrong(r, 0.03) else []))
        size = ints(r, n, [1, 2, 5, 0] if wrong(r) else [1, 2, 5])
        if n > 1 and r.random() < 0.2:
            size = repr(tuple([None] + [r.choice([1, 3, None]) for _ in range(n - 1)]))
        f = r.choice(["adaptive_avg_pool%dd", "adaptive_max_pool%dd"]) % n
        return "F.%s(%s, %s)" % (f, x, size)

    CASES["F.adaptive_pool%dd" % n] = adaptive
    if n < 3:
        CASES["F.lp_pool%dd" % n] = lambda r: "F.lp_pool%dd(%s, 2, %s%s%s)" % (
            n,
            T([2, 3] + spatial(r, n)),
            ints(r, n, [2, 3]) if n > 1 else r.choice("23"),
            r.choice(["", ", 1", ", 2"]),
            r.choice(["", ", ceil_mode=True"]),
        )


for n in (1, 2, 3):
    pool(n)
CASES["F.lp_pool1d"] = lambda r: "F.lp_pool1d(%s, 2, %s%s)" % (
    T([2, 3] + spatial(r, 1)),
    r.choice("23"),
    r.choice(["", ", 1", ", 2"]),
)
CASES["F.lp_pool2d"] = lambda r: "F.lp_pool2d(%s, 2, %s%s)" % (
    T([2, 3] + spatial(r, 2)),
    ints(r, 2, [2, 3]),
    r.choice(["", ", 1", ", 2"]),
)


@case("F.interpolate")
def _(r):
    n = r.choice([1, 2, 2, 2, 3])
    modes = {
        1: ["nearest", "linear", "area", "nearest-exact"],
        2: ["nearest", "bilinear", "bicubic", "area", "nearest-exact"],
        3: ["nearest", "trilinear", "area", "nearest-exact"],
    }[n]
    mode = r.choice(modes) if not wrong(r) else r.choice(["linear", "bilinear", "trilinear", "cubic"])
    how = r.choice(
        [
            "size=%s" % ints(r, n, [1, 3, 8]),
            "scale_factor=%s" % r.choice(["2", "0.5", "1.7", "3.0"]),
            "scale_factor=%r" % (tuple(r.choice([0.5, 1.5, 2]) for _ in range(n)),),
            "size=4, scale_factor=2" if wrong(r) else "size=4",
        ]
    )
    extra = ""
    if mode in ("linear", "bilinear", "trilinear", "bicubic") or wrong(r, 0.03):
        extra = r.choice(["", ", align_corners=True", ", align_corners=False"])
        if mode in ("bilinear", "bicubic") and r.random() < 0.2 or wrong(r, 0.03):
            extra += ", antialias=True"
    if "scale" in how and r.random() < 0.2:
        extra += ", recompute_scale_factor=True"
    return "F.interpolate(%s, %s, mode=%r%s)" % (T([2, 3] + spatial(r, n, 2, 6), r.choice(FLOATS)), how, mode, extra)


@case("F.grid_sample")
def _(r):
    n = r.choice([2, 2, 3])
    grid = [2 + wrong(r, 0.03)] + spatial(r, n, 1, 4) + [n + wrong(r, 0.03)]
    return "F.grid_sample(%s, %s, mode=%r, padding_mode=%r, align_corners=%s)" % (
        T([2, 3] + spatial(r, n, 2, 5)),
        T(grid, "float32" if not wrong(r, 0.03) else "float64"),
        r.choice(["bilinear", "nearest", "bicubic"]),
        r.choice(["zeros", "border", "reflection", "bad"] if wrong(r) else ["zeros", "border", "reflection"]),
        r.choice(["True", "False"]),
    )


@case("F.affine_grid")
def _(r):
    n = r.choice([2, 3])
    return "F.affine_grid(%s, %r, align_corners=False)" % (
        T([2 + wrong(r, 0.03), n, n + 1 + wrong(r)], r.choice(FLOATS + ["int64"])),
        tuple([2, 3] + spatial(r, n, 1, 4)),
    )


# ---- norms
@case("F.batch_norm")
def _(r):
    c = r.randint(1, 4)
    x = T([2, c] + dims(r, 0, 3, False), r.choice(FLOATS))
    v = lambda: T([c + wrong(r, 0.04)]) if r.random() < 0.9 else "None"
    return "F.batch_norm(%s, %s, %s, %s, %s)" % (
        x.replace("float64", "float32"),
        T([c + wrong(r, 0.04)]),
        T([c], "float32", "pos"),
        v(),
        v(),
    )


@case("F.layer_norm")
def _(r):
    shape = dims(r, 1, 4, False)
    tail = shape[-r.randint(1, len(shape)) :]
    if wrong(r):
        tail[-1] += 1
    w = T(tail) if r.random() < 0.5 else "None"
    return "F.layer_norm(%s, %r, %s)" % (T(shape, "float32" if not wrong(r) else "int64"), tuple(tail), w)


@case("F.group_norm")
def _(r):
    c = r.choice([2, 4, 6])
    return "F.group_norm(%s, %d%s)" % (
        T([2, c] + dims(r, 0, 3, False)),
        r.choice([1, 2, c, 4]),
        r.choice(["", ", %s, %s" % (T([c]), T([c + wrong(r)]))]),
    )


@case("F.instance_norm")
def _(r):
    return "F.instance_norm(%s%s)" % (
        T([2, 3] + [2 + d for d in dims(r, 1, 3, False)]),
        r.choice(["", ", weight=%s, bias=%s" % (T([3 + wrong(r)]), T([3]))]),
    )


@case("F.local_response_norm")
def _(r):
    return "F.local_response_norm(%s, %d)" % (T([2, 3] + dims(r, 0 if wrong(r) else 1, 3, False)), r.choice([2, 3, 5]))


@case("F.normalize")
def _(r):
    shape = dims(r, 1)
    return "F.normalize(%s, p=%s, dim=%d)" % (
        T(shape, r.choice(FLOATS)),
        r.choice(["2.0", "1.0", "3", "float('inf')"]),
        dim(r, len(shape)),
    )


# ---- products
@case("matmul")
def _(r):
    m, k, n = r.randint(1, 4), r.randint(1, 4), r.randint(1, 4)
    a, b = [m, k], [k + wrong(r), n]
    batch = dims(r, 0, 2, False)
    a, b = r.choice(
        [
            (batch + a, b),
            (batch + a, like(r, batch) + b),
            (a, batch + b),
            ([k], b),
            (a, [b[0]]),
            ([k], [b[0]]),
            (batch + a, [b[0]]),
            ([], b),
        ]
    )
    t = r.choice(FLOATS + ["int64"])
    return r.choice(["torch.matmul(%s, %s)", "%s @ %s"]) % (T(a, t), T(b, t if not wrong(r, 0.03) else "float64"))


def product(name, make):
    CASES[name] = make


@case("bmm")
def _(r):
    b, m, k, n = (r.randint(1, 4) for _ in range(4))
    return call(r, "bmm", T([b, m, k]), T(r.choice([[b, k, n], [b, k, n], [b + 1, k, n], [b, k + 1, n], [k, n]])))


@case("mm")
def _(r):
    m, k, n = (r.randint(1, 4) for _ in range(3))
    return r.choice(
        [
            call(r, "mm", T([m, k]), T(r.choice([[k, n], [k, n], [k + 1, n], [k]]))),
            call(r, "mv", T([m, k]), T(r.choice([[k], [k + 1], [k, 1]]))),
            call(r, "dot", T([k]), T(r.choice([[k], [k], [k + 1]]))),
        ]
    )


@case("outer")
def _(r):
    return call(
        r,
        r.choice(["outer", "ger"]),
        T(dims(r, 1, 1 if not wrong(r) else 2), r.choice(ANY)),
        T(dims(r, 1, 1), r.choice(ANY)),
    )


@case("inner")
def _(r):
    k = r.randint(1, 4)
    return call(r, "inner", T(dims(r, 0, 2, False) + [k]), T(r.choice([dims(r, 0, 2, False) + [k], [], [k + 1]])))


@case("kron")
def _(r):
    return call(r, "kron", T(dims(r, 0, 3), r.choice(NUMBERS)), T(dims(r, 0, 3), r.choice(NUMBERS)))


@case("tensordot")
def _(r):
    n = r.randint(0, 2)
    mid = dims(r, n, n, False)
    a, b = dims(r, 0, 2, False) + mid, mid + dims(r, 0, 2, False)
    if wrong(r) and b:
        b[0] += 1
    left, right = [len(a) - n + i for i in range(n)], list(range(n))
    return "torch.tensordot(%s, %s, %s)" % (
        T(a),
        T(b),
        r.choice(
            [
                "dims=%d" % n,
                "dims=(%r, %r)" % (left, right),
                "([%s], [%s])" % (", ".join(map(str, left)), ", ".join(map(str, right))),
            ]
        ),
    )


@case("addmm")
def _(r):
    m, k, n, b = (r.randint(1, 4) for _ in range(4))
    start = lambda *s: T(like(r, list(s)))
    return r.choice(
        [
            call(r, "addmm", start(m, n), T([m, k]), T([k + wrong(r), n]), r.choice(["", "beta=0.5, alpha=2"])),
            call(r, "baddbmm", start(b, m, n), T([b, m, k]), T([b, k + wrong(r), n])),
            call(r, "addbmm", start(m, n), T([b, m, k]), T([b, k, n])),
            call(r, "addmv", start(m), T([m, k]), T([k + wrong(r)])),
            call(r, "addr", start(m, n), T([m]), T([n])),
        ]
    )


@case("einsum")
def _(r):
    b, i, j, k = (r.randint(1, 4) for _ in range(4))
    return r.choice(
        [
            "torch.einsum('bij,bjk->bik', %s, %s)" % (T([b, i, j]), T([b, j + wrong(r), k])),
            "torch.einsum('ij,jk', %s, %s)" % (T([i, j]), T([j, k])),
            "torch.einsum('...ij,...kj->...ik', %s, %s)" % (T(dims(r, 0, 2, False) + [i, j]), T([k, j])),
            "torch.einsum('ii->i', %s)" % T([i, i + wrong(r)]),
            "torch.einsum('ii', %s)" % T([i, i]),
            "torch.einsum('bhid,bhjd->bhij', %s, %s)" % (T([b, 2, i, k]), T([b, 2, j, k])),
            "torch.einsum('i,j->ij', [%s, %s])" % (T([i]), T([j])),
            "torch.einsum('ij->', %s)" % T([i, j]),
            "torch.einsum('ba', %s)" % T([i, j]),
            "torch.einsum('ij,ij,jk->ik', %s, %s, %s)" % (T([i, j]), T([i, j]), T([j, k])),
            "torch.einsum(%s, [0, 1], %s, [1, 2], [0, 2])" % (T([i, j]), T([j, k])),
            "torch.einsum(%s, [..., 0], %s, [0])" % (T([b, i, j]), T([j])),
            "torch.einsum('i...->...', %s)" % T([i, j, k]),
            "torch.einsum('ijk', %s)" % T([i, j]),
            "torch.einsum('...a,...b', %s, %s)" % (T([b, i]), T([b, j])),
            "torch.einsum('b n d , m d -> b n m', %s, %s)" % (T([b, i, j]), T([k, j])),
            "torch.einsum('ij,jk->iq', %s, %s)" % (T([i, j]), T([j, k])),
        ]
    )


@case("F.linear")
def _(r):
    k, n = r.randint(1, 4), r.randint(1, 4)
    return "F.linear(%s, %s%s)" % (
        T(dims(r, 0, 3) + [k]),
        T(r.choice([[n, k], [n, k], [n, k], [n, k + 1], [k]])),
        r.choice(["", ", " + T([n]), ", " + T([n + wrong(r)])]),
    )


@case("F.bilinear")
def _(r):
    a, b, n = (r.randint(1, 4) for _ in range(3))
    lead = dims(r, 1, 2, False)
    return "F.bilinear(%s, %s, %s)" % (T(lead + [a]), T(lead + [b + wrong(r)]), T([n, a, b]))


@case("cdist")
def _(r):
    k = r.randint(1, 4)
    batch = dims(r, 0, 2, False)
    return "torch.cdist(%s, %s%s)" % (
        T(batch + [3, k]),
        T(like(r, batch) + [2, k + wrong(r)]),
        r.choice(["", ", p=1.0"]),
    )


@case("F.pdist")
def _(r):
    return "F.pdist(%s)" % T(dims(r, 2, 2 if not wrong(r) else 3), r.choice(FLOATS))


@case("dist")
def _(r):
    shape = dims(r)
    return call(r, "dist", T(shape, r.choice(FLOATS)), T(like(r, shape), r.choice(FLOATS)), r.choice(["", "1", "p=3"]))


@case("F.cosine_similarity")
def _(r):
    shape = dims(r, 1, 3, False)
    return "F.cosine_similarity(%s, %s%s)" % (
        T(shape),
        T(like(r, shape)),
        r.choice(["", ", dim=%d" % dim(r, len(shape)), ", dim=-1"]),
    )


@case("F.pairwise_distance")
def _(r):
    shape = dims(r, 1, 3, False)
    return "F.pairwise_distance(%s, %s%s)" % (
        T(shape, r.choice(FLOATS)),
        T(like(r, shape)),
        r.choice(["", ", p=1", ", keepdim=True"]),
    )


@case("cov")
def _(r):
    return call(r, r.choice(["cov", "corrcoef"]), T(dims(r, 0, 2 if not wrong(r) else 3, False), r.choice(NUMBERS)))


@case("chain_matmul")
def _(r):
    sizes = [r.randint(1, 4) for _ in range(r.randint(3, 5))]
    parts = [T([a, b + wrong(r, 0.03)]) for a, b in zip(sizes, sizes[1:])]
    return r.choice(["torch.chain_matmul(%s)", "torch.linalg.multi_dot([%s])"]) % ", ".join(parts)


@case("linalg.vecdot")
def _(r):
    shape = dims(r, 1, 3)
    return "torch.linalg.vecdot(%s, %s)" % (T(shape, r.choice(FLOATS)), T(shape if not wrong(r) else [7]))


@case("vander")
def _(r):
    return r.choice(["torch.vander(%s%s)", "torch.linalg.vander(%s)%.0s"]) % (
        T(dims(r, 1, 1 if not wrong(r) else 2), r.choice(NUMBERS)),
        r.choice(["", ", N=3", ", increasing=True"]),
    )


# ---- linear algebra
def square(r, values="spd", types=FLOATS):
    n = r.randint(1, 4)
    return T(dims(r, 0, 2, False) + [n, n + wrong(r)], r.choice(types) if not wrong(r) else "int64", values)


for (
    n
) in "inv det slogdet cholesky eigh eigvalsh eig eigvals pinv matrix_exp matrix_rank cond qr svd svdvals lu lu_factor inv_ex".split():
    CASES["linalg." + n] = lambda r, n=n: "torch.linalg.%s(%s)" % (
        n,
        square(r)
        if n not in ("pinv", "qr", "svd", "svdvals", "matrix_rank", "cond", "lu", "lu_factor") or r.random() < 0.3
        else T(dims(r, 2, 4, False), r.choice(FLOATS)),
    )
for n in "inverse det logdet slogdet cholesky qr svd pinverse matrix_exp".split():
    CASES["torch." + n + " (matrix)"] = lambda r, n=n: "torch.%s(%s)" % (n, square(r))


@case("linalg.solve")
def _(r):
    n, k = r.randint(1, 4), r.randint(1, 3)
    batch = dims(r, 0, 2, False)
    b = r.choice([batch + [n, k], [n], batch + [n], like(r, batch) + [n, k], [n + 1, k]])
    return "torch.linalg.solve(%s, %s)" % (T(batch + [n, n], "float32", "spd"), T(b))


@case("linalg.solve_triangular")
def _(r):
    n, k = r.randint(1, 4), r.randint(1, 3)
    batch = dims(r, 0, 2, False)
    left = r.random() < 0.7
    return "torch.linalg.solve_triangular(%s, %s, upper=True, left=%s)" % (
        T(batch + [n, n], "float32", "spd"),
        T(like(r, batch) + ([n, k] if left else [k, n + wrong(r)])),
        left,
    )


@case("matrix_power")
def _(r):
    return r.choice(["torch.matrix_power(%s, %d)", "torch.linalg.matrix_power(%s, %d)"]) % (
        square(r),
        r.choice([0, 1, 2, 3, -1]),
    )


# ---- spectra
for n in "fft ifft rfft irfft hfft ihfft".split():

    def fft(r, n=n):
        shape = dims(r, 0 if wrong(r, 0.03) else 1, 3, False)
        x = T(shape, r.choice(["float32", "float64", "complex64", "complex64", "int64"]))
        return "torch.fft.%s(%s%s%s)" % (
            n,
            x,
            r.choice(["", ", n=%d" % r.choice([1, 4, 5])]),
            r.choice(["", ", dim=%d" % dim(r, len(shape)), ", norm='ortho'", ", norm='bad'" if wrong(r) else ""]),
        )

    CASES["fft." + n] = fft
for n in "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft2 ihfftn".split():

    def fftn(r, n=n):
        shape = dims(r, 1 if wrong(r, 0.03) else 2, 4, False)
        x = T(shape, r.choice(["float32", "float64", "complex64", "complex64", "int64"]))
        how = r.choice(
            [
                "",
                ", s=(4, 4)",
                ", dim=(0, 1)",
                ", s=(3, 5), dim=(-1, 0)",
                ", norm='forward'",
                ", dim=%r" % (tuple(some_dims(r, len(shape))),),
            ]
        )
        return "torch.fft.%s(%s%s)" % (n, x, how)

    CASES["fft." + n] = fftn


@case("fft.fftshift")
def _(r):
    shape = dims(r)
    return "torch.fft.%s(%s%s)" % (
        r.choice(["fftshift", "ifftshift"]),
        T(shape, r.choice(ANY + ["complex64"])),
        r.choice(["", ", dim=%d" % dim(r, len(shape))]),
    )


@case("stft")
def _(r):
    n = r.choice([4, 8, 6])
    x = T(dims(r, 0, 1, False) + [r.choice([20, 33, 3])], r.choice(FLOATS + ["int64"]))
    return "torch.stft(%s, %d, return_complex=%s%s%s%s)" % (
        x,
        n,
        r.choice(["True", "True", "False"]),
        r.choice(["", ", hop_length=2", ", hop_length=0" if wrong(r) else ""]),
        r.choice(["", ", center=False", ", onesided=False"]),
        r.choice(["", ", window=%s" % T([n + wrong(r)])]),
    )


@case("istft")
def _(r):
    n = r.choice([4, 8])
    return "torch.istft(%s, %d%s, window=torch.ones(%d))" % (
        T(dims(r, 0, 1, False) + [n // 2 + 1 + wrong(r), 9], "complex64"),
        n,
        r.choice(["", ", length=10", ", hop_length=2"]),
        n,
    )


# ---- losses
def reduction(r):
    return r.choice(
        [
            "",
            ", reduction='none'",
            ", reduction='sum'",
            ", reduction='mean'",
            ", reduction='bad'" if wrong(r, 0.04) else "",
        ]
    )


for (
    n
) in "mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss kl_div poisson_nll_loss hinge_embedding_loss".split():

    def loss(r, n=n):
        shape = dims(r, 0, 3)
        y = T(like(r, shape), r.choice(FLOATS))
        return "F.%s(%s, %s%s)" % (
            n,
            T(shape, r.choice(FLOATS)),
            y,
            reduction(r) if n != "kl_div" or r.random() < 0.8 else ", reduction='batchmean'",
        )

    CASES["F." + n] = loss


@case("F.binary_cross_entropy")
def _(r):
    shape = dims(r, 0, 3)
    target = shape if not wrong(r) else shape + [2]
    if r.random() < 0.5:
        return "F.binary_cross_entropy(%s, %s%s)" % (
            T(shape, "float32", "pos"),
            T(target, "float32" if not wrong(r) else "float64", "pos"),
            reduction(r),
        )
    return "F.binary_cross_entropy_with_logits(%s, %s%s%s)" % (
        T(shape, r.choice(FLOATS)),
        T(target, r.choice(FLOATS)),
        r.choice(["", ", weight=" + T(like(r, shape)), ", pos_weight=" + T(like(r, shape))]),
        reduction(r),
    )


@case("F.cross_entropy")
def _(r):
    n, c = r.randint(1, 4), r.randint(2, 4)
    tail = dims(r, 0, 2, False)
    f = r.choice(["cross_entropy", "cross_entropy", "nll_loss"])
    if f == "cross_entropy" and r.random() < 0.3:
        return "F.cross_entropy(%s, %s%s)" % (T([n, c] + tail), T([n, c] + tail, "float32", "pos"), reduction(r))
    shape, target = ([n, c] + tail, [n + wrong(r)] + tail) if r.random() < 0.85 else ([c], [])
    extra = r.choice(
        [
            "",
            ", weight=%s" % T([c + wrong(r)]),
            ", ignore_index=0",
            ", label_smoothing=0.1" if f == "cross_entropy" else "",
        ]
    )
    return "F.%s(%s, %s%s%s)" % (
        f,
        T(shape, r.choice(FLOATS)),
        T(target, "int64" if not wrong(r) else "int32", c),
        extra if "weight" not in extra else extra,
        reduction(r),
    )


@case("F.gaussian_nll_loss")
def _(r):
    shape = dims(r, 1, 3, False)
    return "F.gaussian_nll_loss(%s, %s, %s%s)" % (
        T(shape),
        T(shape),
        T(r.choice([shape, shape[:-1], shape[:-1] + [1], shape + [2]]), "float32", "pos"),
        reduction(r),
    )


@case("F.margin_ranking_loss")
def _(r):
    shape = dims(r, 0, 2, False)
    return "F.margin_ranking_loss(%s, %s, %s%s)" % (
        T(shape),
        T(shape),
        T(shape if not wrong(r) else shape + [1]),
        reduction(r),
    )


@case("F.cosine_embedding_loss")
def _(r):
    n = r.randint(1, 4)
    return "F.cosine_embedding_loss(%s, %s, %s%s)" % (
        T([n, 5]),
        T([n, 5]),
        T([n] if not wrong(r) else [n, 1]),
        reduction(r),
    )


@case("F.multi_margin_loss")
def _(r):
    n, c = r.randint(1, 4), r.randint(2, 4)
    return r.choice(
        [
            "F.multi_margin_loss(%s, %s%s)" % (T([n, c]), T([n + wrong(r)], "int64", c), reduction(r)),
            "F.multilabel_soft_margin_loss(%s, %s%s)" % (T([n, c]), T([n, c + wrong(r)]), reduction(r)),
            "F.multilabel_margin_loss(%s, %s%s)" % (T([n, c]), T([n, c + wrong(r)], "int64", c), reduction(r)),
        ]
    )


@case("F.triplet_margin_loss")
def _(r):
    shape = dims(r, 1, 3, False)
    return "F.triplet_margin_loss(%s, %s, %s%s%s)" % (
        T(shape),
        T(like(r, shape) if wrong(r) else shape),
        T(shape),
        r.choice(["", ", swap=True", ", p=1"]),
        reduction(r),
    )


# ---- creation
@case("zeros")
def _(r):
    shape = dims(r)
    f = r.choice(["zeros", "ones", "empty", "rand", "randn"])
    how = r.choice([", ".join(map(str, shape)), repr(tuple(shape)), repr(shape)])
    return "torch.%s(%s)" % (
        f,
        (how or "()") + r.choice(["", ", dtype=torch.float64", ", dtype=torch.int64" if f[0] != "r" else ""]),
    )


@case("full")
def _(r):
    return "torch.full(%r, %s%s)" % (
        tuple(dims(r)),
        r.choice(["1", "0.5", "True"]),
        r.choice(["", ", dtype=torch.float64"]),
    )


@case("zeros_like")
def _(r):
    x = T(dims(r), r.choice(ANY))
    return (
        r.choice(
            [
                "torch.zeros_like(%s)",
                "torch.ones_like(%s, dtype=torch.float64)",
                "torch.full_like(%s, 2)",
                "torch.empty_like(%s)",
                "%s.new_zeros(2, 3)",
                "%s.new_ones((4,))",
                "%s.new_full((2,), 1.5)",
                "%s.new_empty(3, dtype=torch.int64)",
            ]
        )
        % x
    )


@case("rand_like")
def _(r):
    return r.choice(["torch.rand_like(%s)", "torch.randn_like(%s)", "torch.bernoulli(%s)"]) % T(
        dims(r), r.choice(FLOATS), "pos"
    )


@case("arange")
def _(r):
    return r.choice(
        [
            "torch.arange(%d)" % r.randint(0, 9),
            "torch.arange(%d, %d)" % (r.randint(0, 3), r.randint(2, 9)),
            "torch.arange(0, %d, %s)" % (r.randint(1, 9), r.choice(["2", "0.3", "1.0", "3"])),
            "torch.arange(%d, dtype=torch.float32)" % r.randint(0, 9),
            "torch.arange(5, 0, -1)",
            "torch.arange(5, 0)",
            "torch.linspace(%d, 1, %d)" % (r.randint(-3, 0), r.randint(0, 9)),
            "torch.logspace(0, 1, %d)" % r.randint(1, 5),
        ]
    )


@case("eye")
def _(r):
    return "torch.eye(%s)" % r.choice(["3", "2, 4", "0", "3, dtype=torch.bool", "-1"])


@case("tril_indices")
def _(r):
    return "torch.%s(%d, %d%s)" % (
        r.choice(["tril_indices", "triu_indices"]),
        r.randint(0, 5),
        r.randint(0, 5),
        r.choice(["", ", 1", ", offset=-1"]),
    )


@case("randint")
def _(r):
    return r.choice(
        [
            "torch.randint(5, (2, 3))",
            "torch.randint(0, 5, (%d,))" % r.randint(0, 4),
            "torch.randperm(%d)" % r.randint(0, 5),
            "torch.randint(2, 7, size=(2, 2), dtype=torch.int32)",
        ]
    )


@case("tensor")
def _(r):
    return "torch.tensor(%s)" % r.choice(
        [
            "1",
            "1.5",
            "True",
            "[1, 2]",
            "[1.0, 2]",
            "[[1, 2], [3, 4]]",
            "[]",
            "[True, False]",
            "[[1, 2], [3]]",
            "[1], dtype=torch.float16",
            "[[[]]]",
            "[True, 2]",
            "(1, 2.0)",
        ]
    )


@case("windows")
def _(r):
    return "torch.%s_window(%d%s)" % (
        r.choice(["hann", "hamming", "blackman", "bartlett", "kaiser"]),
        r.randint(0, 9),
        r.choice(["", ", periodic=False", ", dtype=torch.float64"]),
    )


@case("result_type")
def _(r):
    shape = dims(r)
    return r.choice(
        [
            "torch.result_type(%s, %s)"
            % (T(shape, r.choice(ANY)), r.choice([T(dims(r), r.choice(ANY)), "2", "0.5", "True"])),
            "torch.promote_types(torch.%s, torch.%s)" % (r.choice(ANY), r.choice(ANY)),
            "torch.broadcast_shapes(%r, %r)" % (tuple(shape), tuple(like(r, shape))),
        ]
    )


@case("queries")
def _(r):
    shape = dims(r)
    return "%s.%s" % (
        T(shape, r.choice(ANY)),
        r.choice(
            [
                "shape",
                "size()",
                "size(%d)" % dim(r, len(shape)),
                "dim()",
                "ndim",
                "numel()",
                "dtype",
                "is_floating_point()",
                "element_size()",
                "nelement()",
                "stride()",
                "is_complex()",
                "is_signed()",
                "type()",
            ]
        ),
    )


@case("frexp")
def _(r):
    return call(r, "frexp", T(dims(r), r.choice(FLOATS) if not wrong(r) else "int64"))


@case("gradient")
def _(r):
    shape = [d + (0 if wrong(r) else 1) for d in dims(r, 1, 3, False)]
    along = dim(r, len(shape))
    return "torch.gradient(%s%s)" % (
        T(shape, r.choice(FLOATS)),
        r.choice(
            [
                "",
                ", dim=%d" % along,
                ", spacing=2.0",
                ", spacing=0.5, dim=%d" % along,
                ", dim=(0,)",
                ", edge_order=2" if min(shape) > 2 or wrong(r) else "",
            ]
        ),
    )


@case("sum_to_size")
def _(r):
    shape = dims(r, 1, 3, False)
    size = like(r, shape) if wrong(r) else [1 if r.random() < 0.4 else d for d in shape][r.randint(0, 1) :]
    return "%s.sum_to_size(%s)" % (
        T(shape, r.choice(FLOATS)),
        tuple(size) if len(size) != 1 or r.random() < 0.5 else size[0],
    )


@case("fake_quantize_per_tensor_affine")
def _(r):
    low, high = r.choice([(-128, 127), (0, 255), (0, 15), (5, 4) if wrong(r) else (0, 7)])
    scale = r.choice(["0.1, 0", "0.5, 1"])
    if r.random() < 0.3:
        scale = "torch.tensor(0.1), torch.tensor(0, dtype=torch.int32)"
    return "torch.fake_quantize_per_tensor_affine(%s, %s, %d, %d)" % (T(dims(r)), scale, low, high)


@case("fake_quantize_per_channel_affine")
def _(r):
    shape = dims(r, 1, 4, False)
    axis = r.randrange(len(shape))
    n = shape[axis] + wrong(r)
    return (
        "torch.fake_quantize_per_channel_affine(%s, torch.ones(%d), torch.zeros(%d, dtype=torch.int32), %d, -128, 127)"
        % (T(shape), n, n, axis)
    )


@case("F.fractional_max_pool2d")
def _(r):
    n = r.choice([2, 2, 3])
    shape = [r.randint(1, 3) for _ in range(r.choice([1, 2]))] + [r.randint(5, 9) for _ in range(n)]
    size = r.choice(
        [
            "output_size=%d" % r.choice([2, 3, 4]),
            "output_ratio=%s" % r.choice([0.5, 0.4, 0.6]),
            "output_ratio=(%s)" % ", ".join(["0.5"] * n),
        ]
    )
    return "F.fractional_max_pool%dd(%s, %d, %s%s)" % (
        n,
        T(shape, r.choice(FLOATS)),
        r.choice([1, 2]) if not wrong(r) else 9,
        size,
        r.choice(["", "", ", return_indices=True"]),
    )


@case("lu_unpack")
def _(r):
    n = r.randint(1, 4)
    matrix = T(dims(r, 0, 2, False) + [n, r.randint(1, 4)], r.choice(FLOATS))
    return "torch.lu_unpack(*torch.lu(%s)%s)" % (
        matrix,
        r.choice(["", "", ", unpack_data=False", ", unpack_pivots=False"]),
    )


@case("lu")
def _(r):
    matrix = T(dims(r, 0, 2, False) + [r.randint(1, 4), r.randint(1, 4)], r.choice(FLOATS))
    return r.choice(["torch.lu(%s)", "torch.linalg.lu_factor_ex(%s)", "torch.lu(%s, get_infos=True)"]) % matrix


@case("linalg.ldl_factor")
def _(r):
    n = r.randint(1, 4)
    return "torch.linalg.ldl_factor(%s)" % T(dims(r, 0, 2, False) + [n, n + wrong(r)], r.choice(FLOATS))


@case("linalg.householder_product")
def _(r):
    batch, n = dims(r, 0, 2, False), r.randint(1, 4)
    m = n + r.randint(0, 2) - 3 * wrong(r)
    return "torch.linalg.householder_product(%s, %s)" % (T(batch + [max(m, 1), n]), T(batch + [n]))


@case("linalg.tensorsolve")
def _(r):
    a, b = r.randint(1, 3), r.randint(1, 3)
    return "torch.linalg.tensorsolve(%s, %s)" % (T([a, b, a * b + wrong(r)]), T([a, b]))


@case("Tensor.where")
def _(r):
    shape = dims(r, 1, 3, False)
    return "(%s).where(%s > 0, %s)" % (T(shape), T(like(r, shape)), T(like(r, shape)))


@case("spmm")
def _(r):
    a, b, c = (r.randint(1, 4) for _ in range(3))
    return "torch.spmm(%s, %s)" % (T([a, b]), T([b + wrong(r), c]))


@case("fft.fftfreq")
def _(r):
    return r.choice(
        [
            "torch.fft.fftfreq(%d)",
            "torch.fft.rfftfreq(%d)",
            "torch.fft.fftfreq(%d, d=0.5)",
            "torch.fft.rfftfreq(%d, 2.0, dtype=torch.float64)",
        ]
    ) % r.randint(1, 9)


# ---- packed sequences: the lengths are constants
def lengths(r, n, longest):
    return sorted((r.randint(1 - wrong(r, 0.03), longest) for _ in range(n)), reverse=not wrong(r, 0.05))


def packed(r, features, batch_first, hidden=None):
    n, longest = r.randint(1, 4), r.randint(1, 6)
    steps = lengths(r, n, longest)
    ordered = r.random() < 0.6
    if not ordered:
        r.shuffle(steps)
    if r.random() < 0.2:
        sequences = ", ".join(T([max(s, 0), features]) for s in steps)
        return "nn.utils.rnn.pack_sequence([%s], enforce_sorted=%r)" % (sequences, ordered)
    shape = [n, longest + wrong(r, 0.03), features] if batch_first else [longest, n + wrong(r, 0.03), features]
    how = r.choice(["%r", "torch.tensor(%r)", "torch.tensor(%r, dtype=torch.int32)"]) % steps
    return "nn.utils.rnn.pack_padded_sequence(%s, %s, batch_first=%r, enforce_sorted=%r)" % (
        T(shape),
        how,
        batch_first,
        ordered,
    )


@case("pack_padded_sequence")
def _(r):
    return packed(r, r.randint(1, 4), r.random() < 0.5)


@case("pad_packed_sequence")
def _(r):
    features, batch_first = r.randint(1, 4), r.random() < 0.5
    options = r.choice(["", ", padding_value=-1.0", ", total_length=%d" % r.randint(4, 9)])
    return "nn.utils.rnn.pad_packed_sequence(%s, batch_first=%r%s)" % (
        packed(r, features, batch_first),
        batch_first,
        options,
    )


@case("recurrent layers, packed")
def _(r):
    features, hidden, batch_first = r.randint(1, 4), r.randint(2, 5), r.random() < 0.5
    kind = r.choice(["LSTM", "LSTM", "GRU", "RNN"])
    options = ", num_layers=%d, bidirectional=%r, batch_first=%r" % (r.randint(1, 2), r.random() < 0.4, batch_first)
    if kind == "LSTM" and r.random() < 0.3:
        options += ", proj_size=1"
    layer = "nn.%s(%d, %d%s)" % (kind, features + wrong(r, 0.03), hidden, options)
    return "(lambda out, state: (nn.utils.rnn.pad_packed_sequence(out, batch_first=True), state))(*%s(%s))" % (
        layer,
        packed(r, features, batch_first),
    )


@case("recurrent layers")
def _(r):
    features, hidden, batch_first, layers, both = (
        r.randint(1, 4),
        r.randint(2, 5),
        r.random() < 0.5,
        r.randint(1, 2),
        r.random() < 0.3,
    )
    kind = r.choice(["LSTM", "GRU", "RNN"])
    steps, n = r.randint(1, 4), r.randint(1, 3)
    batched = r.random() < 0.5
    x = T(
        ([n, steps, features] if batch_first else [steps, n, features])
        if batched
        else [steps, features + wrong(r, 0.03)]
    )
    state = [layers * (1 + both), n + wrong(r), hidden] if batched != wrong(r, 0.03) else [layers * (1 + both), hidden]
    given = ""
    if r.random() < 0.5:
        given = ", " + ("(%s, %s)" % (T(state), T(state)) if kind == "LSTM" else T(state))
    return "nn.%s(%d, %d, num_layers=%d, bidirectional=%r, batch_first=%r)(%s%s)" % (
        kind,
        features,
        hidden,
        layers,
        both,
        batch_first,
        x,
        given,
    )


@case("out=")
def _(r):
    shape = dims(r, 1, 3, False)
    a, b, o = T(shape), T(like(r, shape)), r.choice(["torch.empty(0)", "torch.zeros(1, 2)[:, :0].clone()"])
    call = r.choice(
        [
            "torch.mul(%s, %s, out=o)" % (a, b),
            "torch.add(%s, 2, out=o)" % a,
            "torch.cat([%s, %s], 0, out=o)" % (a, a),
            "torch.exp(%s, out=o)" % a,
            "torch.matmul(%s, %s, out=o)" % (T([2, 3]), T([3, 4])),
        ]
    )
    return "(lambda o: (%s, o.shape, o))(%s)" % (call, o)


@case("shifts")
def _(r):
    x = T(dims(r), r.choice(["int64", "int32", "uint8"]))
    return r.choice(["%s << 1", "%s >> 1", "%s << 2"]) % x if r.random() < 0.8 else "%s >> %s" % (x, x)


@case("Tensor.new")
def _(r):
    x = T(dims(r), r.choice(FLOATS + ["int64"]))
    return (
        r.choice(
            [
                "%s.new(2, 3)",
                "%s.new(torch.Size([2, 4]))",
                "%s.new([1, 2, 3])",
                "%s.new([[1], [2]])",
                "%s.new(3)",
                "%s.new(2, 3).zero_()",
                "%s.new(4).fill_(2)",
                "%s.new((2, 3))",
                "%s.new(%d)" % ("%s", r.randint(-1, 2)),
            ]
        )
        % x
    )


# ---- autocast: the type of what comes out
AUTOCAST = [
    "F.linear(x, T([4, 3], 'float32'))",
    "F.linear(x, T([4, 3], 'float32')) + x[:, :1]",
    "x @ T([3, 4], 'float32')",
    "torch.matmul(x, T([3], 'float32'))",
    "torch.mm(x, T([3, 2], 'float32'))",
    "torch.bmm(x[None], T([1, 3, 2], 'float32'))",
    "torch.addmm(T([4], 'float32'), x, T([3, 4], 'float32'))",
    "torch.einsum('ij,jk->ik', x, T([3, 4], 'float32'))",
    "torch.einsum('ij,ij->ij', x, x)",
    "F.conv1d(x[None], T([4, 2, 1], 'float32'))",
    "F.conv2d(x[None, None], T([4, 1, 2, 2], 'float32'))",
    "F.conv_transpose1d(x[None], T([2, 4, 1], 'float32'))",
    "x.softmax(-1)",
    "F.gelu(x)",
    "x.exp()",
    "x.sum()",
    "x.mean(1)",
    "x.prod()",
    "x.prod(1)",
    "x.trace()",
    "torch.cat([x, T([2, 3], 'float32')])",
    "torch.stack([x, T([2, 3], 'float32')])",
    "torch.cat([F.linear(x, T([3, 3], 'float32')), x])",
    "F.mse_loss(F.linear(x, T([3, 3], 'float32')), T([2, 3], 'float32'))",
    "F.l1_loss(x, x)",
    "F.smooth_l1_loss(F.linear(x, T([3, 3], 'float32')), x)",
    "F.cross_entropy(F.linear(x, T([3, 3], 'float32')), C([0, 1], 'int64'))",
    "torch.cdist(x, T([4, 3], 'float32'))",
    "F.pad(x[None], (1, 1), mode='reflect')",
    "F.pad(x, (1, 1))",
    "F.grid_sample(T([1, 1, 4, 4], 'float32'), T([1, 2, 2, 2], 'float32'))",
    "torch.fft.fft(x)",
    "torch.quantile(x, 0.5)",
    "F.interpolate(x[None], scale_factor=2)",
    "F.layer_norm(x, (3,))",
    "F.normalize(x)",
    "nn.LSTM(3, 2)(x.float())[0]",
    "nn.GRU(3, 2)(x.float())[0]",
    "nn.Linear(3, 4)(x)",
    "nn.MultiheadAttention(3, 1)(x, x, x)[0]",
    "torch.tensordot(x, T([3, 2], 'float32'), 1)",
    "torch.inner(x, T([4, 3], 'float32'))",
    "torch.einsum('ab,cd->ad', x.float(), T([3, 4], 'float32'))",
    "torch.einsum('ab,bc,cd->ad', x, T([3, 4], 'float32'), T([4, 2], 'float32'))",
    "torch.is_autocast_cpu_enabled()",
    "torch.get_autocast_cpu_dtype()",
    "F.max_pool3d(T([1, 1, 4, 4, 4], 'float32'), 2)",
    "F.avg_pool2d(T([1, 4, 4], 'float32'), 2)",
    "torch.polar(x, x)",
    "torch.view_as_complex(x.reshape(3, 2))",
    "torch.baddbmm(T([1, 2, 4], 'float32'), x[None], T([1, 3, 4], 'float32'))",
    "x.float() @ T([3, 4], 'float32')",
    "x.double() @ T([3, 4], 'float32').double()",
    "torch.linalg.inv(T([2, 2], 'float32') + 3 * torch.eye(2))",
]


@case("autocast")
def _(r):
    decorator = r.choice(
        [
            "torch.autocast('cpu')",
            "torch.autocast('cpu')",
            "torch.cpu.amp.autocast()",
            "torch.autocast('cpu', dtype=torch.bfloat16)",
            "torch.autocast('cpu', enabled=False)",
            "torch.autocast('cpu', dtype=torch.float16)",
            "torch.cuda.amp.autocast()",
        ]
    )
    return "%s(lambda x: %s)(%s)" % (
        decorator,
        r.choice(AUTOCAST),
        T([2, 3], r.choice(["float32", "float32", "bfloat16"])),
    )
