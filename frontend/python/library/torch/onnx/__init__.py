def is_in_onnx_export():
    return False


def register_custom_op_symbolic(*args, **kwargs):
    pass


unregister_custom_op_symbolic = export = register_custom_op_symbolic


class OperatorExportTypes:
    ONNX, ONNX_ATEN, ONNX_ATEN_FALLBACK, ONNX_FALLTHROUGH = range(4)


class TrainingMode:
    EVAL, PRESERVE, TRAINING = range(3)
