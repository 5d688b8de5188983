from _cobra import inert, under_try


def load(*args, **kwargs):
    # There is no compiler here. Who is prepared for that goes on without the extension; for others
    # it is there, and calling what it has is refused.
    if under_try():
        raise RuntimeError("Error building extension: there is no compiler here")
    return inert("torch.utils.cpp_extension.load()")


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
