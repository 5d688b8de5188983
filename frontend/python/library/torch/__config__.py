import torch


def show():
    # Of a build for processors.
    return (
        "PyTorch built with:\n  - Build settings: BLAS_INFO=mkl, TORCH_VERSION=%s, USE_CUDA=0, USE_CUDNN=OFF, USE_MKL=ON, "
        "USE_MKLDNN=ON, USE_OPENMP=ON\n" % str(torch.__version__).partition("+")[0]
    )


def parallel_info():
    return "ATen/Parallel:\n\tat::get_num_threads() : 1\n"
