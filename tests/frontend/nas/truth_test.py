#!/usr/bin/env python3
"""What PyTorch runs for reference/*.py, recorded by the corpus's make_truth.py, against what
frontend/nas builds for the same architecture, by its compare.py: operators in order, attributes,
shapes, data flow, parameters, MACs. Needs python3-torch and the corpus (exits 77 without).

    truth_test.py [--networks N]     N random architectures of each space (default 2)
"""
import argparse, json, os, random, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("COBRA_SOURCE", os.path.join(HERE, "..", "..", ".."))
BIN = os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build/release/bin"))
CORPUS = os.path.join(SOURCE, "..", "shared", "corpus")


def image(*shape):
    return [{"shape": list(shape)}]


def nasbench201(r, pruned):
    ops = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
    while True:
        edges = [[r.choice(ops) for _ in range(j)] for j in (1, 2, 3)]
        front = {0}
        for j in (1, 2, 3):
            if any(op != "none" and i in front for i, op in enumerate(edges[j - 1])):
                front.add(j)
        if 3 in front or not pruned:
            break
    arch = "+".join("|" + "".join("%s~%d|" % (op, i) for i, op in enumerate(node)) for node in edges)
    return (
        "nasbench201%s:%s" % ("-pruned" if pruned else "", arch),
        "nasbench201",
        "TinyNetwork(%r, pruned=%r)" % (arch, pruned),
        image(1, 3, 32, 32),
    )


def nasbench101(r):
    while True:
        n = r.randint(2, 7)
        matrix = [[int(j > i and r.random() < 0.5) for j in range(n)] for i in range(n)]
        reach = {0}
        for i in range(n):
            if i in reach:
                reach |= {j for j in range(n) if matrix[i][j]}
        if n - 1 in reach:
            break
    ops = (
        ["input"] + [r.choice(["conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3"]) for _ in range(n - 2)] + ["output"]
    )
    return (
        "nasbench101:%s %s" % (json.dumps(matrix), json.dumps(ops)),
        "nasbench101",
        "Network(%r, %r)" % (matrix, ops),
        image(1, 3, 32, 32),
    )


def fbnet(r, imagenet):
    kinds = ["k3_e1", "k3_e1_g2", "k3_e3", "k3_e6", "k5_e1", "k5_e1_g2", "k5_e3", "k5_e6", "skip"]
    arch = " ".join(r.choice(kinds) for _ in range(22))
    size = 224 if imagenet else 32
    return (
        "fbnet%s:%s" % ("" if imagenet else ",dataset=cifar100", arch),
        "fbnet",
        "FBNet(%r, imagenet=%r, num_classes=%d)" % (arch, imagenet, 1000 if imagenet else 100),
        image(1, 3, size, size),
    )


def ofa(r):
    ks, e, d = (
        [r.choice((3, 5, 7)) for _ in range(20)],
        [r.choice((3, 4, 6)) for _ in range(20)],
        [r.choice((2, 3, 4)) for _ in range(5)],
    )
    size = r.randrange(128, 225, 4)
    text = " ".join("%s:%s" % (k, " ".join(map(str, v))) for k, v in (("ks", ks), ("e", e), ("d", d), ("r", [size])))
    return "ofa:" + text, "ofa", "MobileNetV3(%r, %r, %r)" % (ks, e, d), image(1, 3, size, size)


def darts(r, imagenet):
    ops = [
        "none",
        "avg_pool_3x3",
        "max_pool_3x3",
        "skip_connect",
        "sep_conv_3x3",
        "sep_conv_5x5",
        "sep_conv_7x7",
        "dil_conv_3x3",
        "dil_conv_5x5",
        "conv_7x1_1x7",
    ]
    cells = [[(r.choice(ops), r.randrange(2 + i // 2)) for i in range(8)] for _ in range(2)]
    genotype = "Genotype(normal=%r, normal_concat=[2, 3, 4, 5], reduce=%r, reduce_concat=range(3, 6))" % tuple(cells)
    size = 224 if imagenet else 32
    return (
        "darts,layers=6,dataset=%s:%s" % ("imagenet" if imagenet else "cifar10", genotype),
        "darts",
        "Network(%s, imagenet=%r, C=%d, layers=6, num_classes=%d)"
        % (genotype, imagenet, 48 if imagenet else 36, 1000 if imagenet else 10),
        image(1, 3, size, size),
    )


def hat(r):
    layers, decoder_layers = r.randint(3, 6), r.randint(1, 6)
    many = lambda n, choices: [r.choice(choices) for _ in range(n)]
    encoder = (r.choice((512, 640)), many(layers, (1024, 2048, 3072)), many(layers, (4, 8)))
    decoder = (
        r.choice((512, 640)),
        many(decoder_layers, (1024, 2048, 3072)),
        many(decoder_layers, (4, 8)),
        many(decoder_layers, (4, 8)),
        many(decoder_layers, (-1, 1, 2)),
    )
    names = ["embed_dim", "ffn_embed_dim", "self_attention_heads", "ende_attention_heads", "arbitrary_ende_attn"]
    config = {
        "encoder": dict(zip(("encoder_" + n for n in names), encoder), encoder_layer_num=layers),
        "decoder": dict(zip(("decoder_" + n for n in names), decoder), decoder_layer_num=decoder_layers),
    }
    tokens = {"shape": [1, 30], "dtype": "int64", "range": [2, 900]}
    return "hat,src_vocab=1000:%r" % config, "hat", "Transformer(%r, %r, 1000)" % (encoder, decoder), [tokens, tokens]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not os.path.exists(os.path.join(CORPUS, "make_truth.py")):
        print("no corpus beside the repository: skipped")
        return 77
    try:
        import torch  # noqa: F401
    except ImportError:
        print("no python3-torch: skipped")
        return 77
    r = random.Random(args.seed)
    cases = []
    for i in range(args.networks):
        cases += [
            nasbench201(r, False),
            nasbench201(r, True),
            nasbench101(r),
            fbnet(r, i % 2 == 0),
            ofa(r),
            darts(r, i % 2 == 1),
            hat(r),
        ]
    with tempfile.TemporaryDirectory() as folder:
        models = [
            {"name": "n%03d_%s" % (i, module), "module": module, "call": call, "inputs": inputs}
            for i, (_, module, call, inputs) in enumerate(cases)
        ]
        listing = os.path.join(folder, "models.json")
        json.dump({"suite": "nas", "models": models}, open(listing, "w"))
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        made = subprocess.run(
            [
                sys.executable,
                os.path.join(CORPUS, "make_truth.py"),
                "--list",
                listing,
                "--out",
                os.path.join(folder, "suite"),
                "--root",
                os.path.join(HERE, "reference"),
            ],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        if made.returncode != 0 or "FAIL" in made.stdout:
            print(made.stdout)
            return 1
        dumps = os.path.join(folder, "dumps")
        os.mkdir(dumps)
        ours = subprocess.run(
            [os.path.join(BIN, "read_architecture")],
            input="".join(arch + "\n" for arch, *_ in cases),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.splitlines()
        for model, line in zip(models, ours):
            with open(os.path.join(dumps, model["name"] + ".json"), "w") as f:
                f.write(line)
        done = subprocess.run(
            [
                sys.executable,
                os.path.join(CORPUS, "compare.py"),
                "--suite",
                os.path.join(folder, "suite"),
                "--dumps",
                dumps,
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        print(done.stdout)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
