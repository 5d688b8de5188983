def _flatten_dense_tensors(tensors):
    raise RuntimeError("torch._utils")
