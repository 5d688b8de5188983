#!/usr/bin/python3
"""--torch-version decides what hasattr(), import and calls of torch's names answer."""
import json
import os
import subprocess
import sys

BIN = os.environ.get("COBRA_BIN", "build/release/bin")
# expression: the first version for which it is true
SINCE = {
    "hasattr(F, 'scaled_dot_product_attention')": (2, 0),
    "hasattr(F, 'rms_norm')": (2, 4),
    "hasattr(nn, 'RMSNorm')": (2, 4),
    "hasattr(torch, 'compile')": (2, 0),
    "hasattr(torch, 'set_default_device')": (2, 0),
    "hasattr(torch, 'get_default_device')": (2, 3),
    "hasattr(torch.ones(1), 'nbytes')": (2, 0),
    "hasattr(torch.ones(1), 'itemsize')": (2, 1),
    "hasattr(nn, 'attention')": (2, 2),
    "hasattr(nn, 'Buffer')": (2, 5),
    "hasattr(torch, 'vmap')": (2, 0),
    "hasattr(torch, 'accelerator')": (2, 6),
    "hasattr(nn, 'CircularPad2d')": (2, 1),
    "hasattr(F, 'silu')": (1, 0),
    "hasattr(torch.linalg, 'cond')": (1, 0),
    "hasattr(F, 'nosuchfunction')": (99, 0),
    "hasattr(torch, 'nosuchname')": (99, 0),
    "torch.compile(F.relu) is F.relu": (2, 0),
    "F.scaled_dot_product_attention(T((2, 4, 5, 8), 'float32'), T((2, 4, 7, 8), 'float32'), T((2, 4, 7, 6), 'float32')).shape == (2, 4, 5, 6)": (
        2,
        0,
    ),
    "F.rms_norm(T((2, 8), 'float32'), (8,)).shape == (2, 8)": (2, 4),
    "__import__('torch.nn.attention') is not None": (2, 2),
    "torch.__version__ >= '2'": (2, 0),
}
VERSIONS = ["1.13.1", "2.0.1", "2.1.0", "2.2.0", "2.3.1", "2.4.0", "2.5.1", "2.6.0"]


def main():
    wrong = 0
    for version in VERSIONS:
        done = subprocess.run(
            [BIN + "/eval_torch", "--torch-version", version],
            input="".join(e + "\n" for e in SINCE),
            capture_output=True,
            text=True,
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) != len(SINCE):
            print("eval_torch answered %d of %d: %s" % (len(answers), len(SINCE), done.stderr))
            return 1
        number = tuple(map(int, version.split(".")[:2]))
        for (expression, since), answer in zip(SINCE.items(), answers):
            have = answer.get("out") == "True"
            if have != (number >= since):
                wrong += 1
                print("DIFFERS  %s at %s: %s" % (expression, version, answer))
    print("%d questions of %d versions, %d wrong" % (len(SINCE), len(VERSIONS), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
