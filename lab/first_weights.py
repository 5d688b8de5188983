#!/usr/bin/env python3
"""Writes the weights with which the tables of public rows begin (`cobra-train table ... --model`).

    lab/first_weights.py OUT [COMMIT]

They are those of COMMIT of this repository: the last ones that only our own measurements taught (33
targets, the mean of three seeds). What networks have got since then is added with the values of a
network that nobody trained: the inputs that a target's specification has got, two kinds of work,
the cost of a run. Nothing that was learned changes. """
import hashlib
import json
import math
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

COMMIT = "5774e69c"
# Sizes then, and as this program writes them; a build adds later features of a specification and
# kinds of work itself (model/predict/weights/later_inputs.h).
SPEC_FEATURES, SPEC_FEATURES_NOW, LEARNED = 33, 36, 16
WORK_TERMS, WORK_TERMS_NOW = 24, 26
# Places of features and kinds of work, in the order of model/predict/work/features.h.
IS_GPU, IS_COMPILED, GPU_BANDWIDTH, GPU_POWER_LIMIT = 1, 11, 26, 35
MACS = [3, 4, 5, 6, 7, 8, 9, 18, 20]
COMPOSED_KERNELS, COMPOSED_BYTES = 24, 25
# As in model/training/first_prices.cc, model/net/layer_head.cc and model/net/graph_net.cc.
GB_PER_S_SCALE, CORE_GB_PER_S, UNIT_PRICE = 12, 60, -11
KERNEL, FUSED = 1, 2
RUN_UNIT, RUN, RUN_OF_GPU, RUN_OF_COMPILED = 8, -3, 6, 1.3


def read_tensors(file):
    length = struct.unpack("<Q", file[:8])[0]
    header, data = json.loads(file[8 : 8 + length]), file[8 + length :]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return tensors


def tensor_file(tensors):
    header, data = {}, b""
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value, "<f4").tobytes()
        header[name] = {
            "dtype": "F32",
            "shape": list(value.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def widen(tensors):
    more_terms = WORK_TERMS_NOW - WORK_TERMS
    wide = dict(tensors)
    for name, value in tensors.items():
        if value.ndim == 2 and value.shape[1] == SPEC_FEATURES + LEARNED:  # of a target's specification
            wide[name] = np.insert(value, [SPEC_FEATURES] * (SPEC_FEATURES_NOW - SPEC_FEATURES), 0, axis=1)
    head = "layer_head."
    prices = np.pad(wide[head + "target_prices.weight"], ((0, more_terms), (0, 0)))
    prices[MACS, GPU_POWER_LIMIT] = -math.log(2)
    prices[COMPOSED_BYTES, GPU_BANDWIDTH] = -GB_PER_S_SCALE * math.log(2)
    prices[COMPOSED_BYTES, IS_GPU] = math.log(CORE_GB_PER_S)
    prices[[COMPOSED_KERNELS, COMPOSED_BYTES], IS_COMPILED] = -FUSED
    wide[head + "target_prices.weight"] = prices
    wide[head + "out.bias"] = np.append(wide[head + "out.bias"], [KERNEL, UNIT_PRICE])
    wide[head + "out.weight"] = np.pad(wide[head + "out.weight"], ((0, more_terms), (0, 0)))
    wide[head + "work.weight"] = np.pad(wide[head + "work.weight"], ((0, 0), (0, more_terms)))
    run = np.zeros((1, SPEC_FEATURES_NOW + LEARNED))
    run[0, IS_GPU], run[0, IS_COMPILED] = RUN_OF_GPU / RUN_UNIT, RUN_OF_COMPILED / RUN_UNIT
    wide["graph_net.run.weight"], wide["graph_net.run.bias"] = run, np.array([RUN / RUN_UNIT])
    return wide


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    out, commit = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) == 3 else COMMIT

    def stored(name):
        shown = subprocess.run(["git", "show", f"{commit}:model/pretrained/{name}"], capture_output=True, check=False)
        if shown.returncode != 0:
            sys.exit(f"{commit}: {shown.stderr.decode().strip()}; the whole history is needed: git fetch --unshallow")
        return shown.stdout

    manifest = json.loads(stored("manifest.json"))
    if manifest["net"]["target_features"] != SPEC_FEATURES + LEARNED or manifest["net"]["work_terms"] != WORK_TERMS:
        sys.exit(f"{commit}: its networks have other sizes than those that this program widens")
    tensors = tensor_file(widen(read_tensors(stored("tensors.safetensors"))))
    manifest["net"].update(target_features=SPEC_FEATURES_NOW + LEARNED, work_terms=WORK_TERMS_NOW)
    manifest["training_notes"].append(f"the weights of commit {commit} in wider networks")
    manifest["tensors_sha256"] = hashlib.sha256(tensors).hexdigest()
    manifest["manifest_sha256"] = ""
    text = json.dumps(manifest, separators=(",", ":"))
    hashed = hashlib.sha256(text.encode()).hexdigest()
    text = text.replace('"manifest_sha256":""', f'"manifest_sha256":"{hashed}"')
    out.mkdir(parents=True, exist_ok=True)
    (out / "tensors.safetensors").write_bytes(tensors)
    (out / "manifest.json").write_text(text)


if __name__ == "__main__":
    main()
