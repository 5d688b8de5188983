import contextlib


class _Flags:
    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True


matmul = _Flags()
cufft_plan_cache = None


def sdp_kernel(*args, **kwargs):
    return contextlib.nullcontext()


def is_built():
    return False


def enable_flash_sdp(enabled):
    pass


enable_math_sdp = enable_mem_efficient_sdp = enable_cudnn_sdp = enable_flash_sdp


def flash_sdp_enabled():
    return True


math_sdp_enabled = mem_efficient_sdp_enabled = flash_sdp_enabled


def preferred_linalg_library(backend=None):
    return None
