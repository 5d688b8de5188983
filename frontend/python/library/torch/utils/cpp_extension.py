def load(*args, **kwargs):
    raise RuntimeError("torch.utils.cpp_extension: no compiler here")


load_inline = load
CUDA_HOME = None
ROCM_HOME = None


def CUDAExtension(*args, **kwargs):
    raise RuntimeError("torch.utils.cpp_extension: no compiler here")


CppExtension = CUDAExtension


class BuildExtension:
    @classmethod
    def with_options(cls, **options):
        return cls
