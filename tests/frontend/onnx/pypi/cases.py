"""Writes cases in the form of ONNX's own test data, for onnx_conformance: FOLDER/NAME/model.onnx,
test_data_set_0/{input,output}_N.pb."""
import os
import shutil

import numpy
import onnxruntime
from onnx import numpy_helper


def write(folder, name, model, inputs, outputs):
    """`inputs` and `outputs` in the order of the graph's, those without a value left out of the
    graph."""
    case = os.path.join(folder, name)
    shutil.rmtree(case, ignore_errors=True)
    os.makedirs(os.path.join(case, "test_data_set_0"))
    with open(os.path.join(case, "model.onnx"), "wb") as file:
        file.write(model if isinstance(model, bytes) else model.SerializeToString())
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            with open(os.path.join(case, "test_data_set_0", f"{kind}_{i}.pb"), "wb") as file:
                file.write(numpy_helper.from_array(numpy.asarray(value)).SerializeToString())


def session(model, optimised_path=None):
    """An inference session on one thread of the processor; the optimised model is written if a path
    is given."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_EXTENDED if optimised_path else levels.ORT_DISABLE_ALL
    if optimised_path:
        options.optimized_model_filepath = optimised_path
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
