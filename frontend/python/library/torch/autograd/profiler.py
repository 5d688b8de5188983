from torch.profiler import profile, record_function

emit_nvtx = profile
