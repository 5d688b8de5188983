#!/usr/bin/env python3
"""Writes the node cases of the onnx package as files for onnx_conformance.

    node_cases.py FOLDER

The package generates its cases in code, each for the opset in which its operator last changed. A
case of a newer opset than the reader's is written for the reader's newest one if it is a valid
model there (only types were added since), and left out otherwise."""
import os
import sys
import warnings

import onnx
from onnx import checker, numpy_helper
from onnx.backend.test.case import node

NEWEST = 24


# Cases in which PyTorch itself gives something else than the reference, for which the graph is
# right.
NOT_COMPARED = {
    "test_top_k_same_values": "PyTorch's topk says nothing about the order of equal values",
    "test_top_k_same_values_2d": "PyTorch's topk says nothing about the order of equal values",
    "test_top_k_same_values_largest": "PyTorch's topk says nothing about the order of equal values",
    "test_gridsample_volumetric_nearest_align_corners_0": "LibTorch 1.13 rounds halves otherwise than PyTorch 2",
    "test_gridsample_volumetric_nearest_align_corners_1": "LibTorch 1.13 rounds halves otherwise than PyTorch 2",
}


def fitted(model):
    """The model at an opset that the reader reads; None if there is none."""
    for opset in model.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version > NEWEST:
            opset.version = NEWEST
            try:
                checker.check_model(model, full_check=True)
            except (checker.ValidationError, onnx.shape_inference.InferenceError):
                return None
    return model


def message(value, info):
    if info.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, info.name)
    if info.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, info.name)
    return value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(value, info.name)


def main():
    warnings.simplefilter("ignore")
    written = left_out = 0
    for case in node.collect_testcases():
        if case.name in NOT_COMPARED:
            continue
        model = fitted(case.model)
        if model is None or any(info.type.HasField("map_type") for info in model.graph.input):
            left_out += 1
            continue
        folder = os.path.join(sys.argv[1], case.name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "model.onnx"), "wb") as file:
            file.write(model.SerializeToString())
        for i, (inputs, outputs) in enumerate(case.data_sets):
            data = os.path.join(folder, f"test_data_set_{i}")
            os.makedirs(data, exist_ok=True)
            for kind, values, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
                for k, (value, info) in enumerate(zip(values, infos)):
                    with open(os.path.join(data, f"{kind}_{k}.pb"), "wb") as file:
                        file.write(message(value, info).SerializeToString())
        written += 1
    print(f"onnx {onnx.__version__}: {written} cases, {left_out} left out (newer than opset {NEWEST}, or maps)")
    for name, reason in NOT_COMPARED.items():
        print(f"  not compared: {name}: {reason}")


main()
