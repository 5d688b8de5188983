# What surrounds a model in a program: files, other machines, devices, training. One section each: "# == name"
# == torch.serialization
import torch


class _Unread(dict):
    # What a checkpoint file holds: nobody reads it. It is empty, each entry of it is unread again, and load_state_dict() takes it for what fits.
    def __missing__(self, key):
        return _Unread()

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        torch._unsupported('.%s of what a checkpoint file holds' % name, 'build the model from its source, with random weights')

    def pop(self, key=None, default=None):
        return _Unread()

    def copy(self):
        return self

    def __deepcopy__(self, memo):
        return self


def load(*args, **kwargs):
    return _Unread()


def save(*args, **kwargs):
    pass


def safe_globals(*args, **kwargs):
    return torch.no_grad()


def add_safe_globals(safe_globals):
    pass
# == torch.hub
import torch
from torch.serialization import load as _load


def load_state_dict_from_url(*args, **kwargs):
    return _load()


def load(*args, **kwargs):
    torch._unsupported('torch.hub.load()', 'there is no network here: build the model from its source: name the file that defines it, and the folder of its library with --library')


def help(*args, **kwargs):
    torch._unsupported('torch.hub', 'there is no network here: build the model from its source')


def get_dir():
    return '/nowhere/torch/hub'


def _get_torch_home():
    return '/nowhere/torch'


def download_url_to_file(*args, **kwargs):
    pass


def set_dir(d):
    pass


def list(*args, **kwargs):
    torch._unsupported('torch.hub', 'there is no network here: build the model from its source')
# == torch.utils
# == torch.utils.model_zoo
from torch.hub import load_state_dict_from_url

load_url = load_state_dict_from_url
# == torch.utils.checkpoint
def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, context_fn=None, determinism_check=None, debug=None, **kwargs):
    return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    if hasattr(functions, 'children'):
        functions = list(functions.children())
    for function in functions:
        input = function(input)
    return input
# == torch.utils.data
class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError

    def __class_getitem__(cls, item):
        return cls


class IterableDataset(Dataset):
    pass


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class ConcatDataset(Dataset):
    pass


class Subset(Dataset):
    pass


class Sampler:
    def __init__(self, data_source=None):
        pass

    def __class_getitem__(cls, item):
        return cls


class RandomSampler(Sampler):
    pass


class SequentialSampler(Sampler):
    pass


class BatchSampler(Sampler):
    pass


class WeightedRandomSampler(Sampler):
    pass


class SubsetRandomSampler(Sampler):
    pass


class DataLoader:
    def __init__(self, *args, **kwargs):
        raise RuntimeError('torch.utils.data does not run here')

    def __class_getitem__(cls, item):
        return cls


def random_split(*args, **kwargs):
    raise RuntimeError('torch.utils.data does not run here')


def default_collate(batch):
    raise RuntimeError('torch.utils.data does not run here')


def get_worker_info():
    return None
# == torch.utils.data.dataset
from torch.utils.data import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split
# == torch.utils.data.dataloader
from torch.utils.data import DataLoader, default_collate
# == torch.utils.data.sampler
from torch.utils.data import BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler
# == torch.utils.data.distributed
from torch.utils.data import Sampler as DistributedSampler
# == torch.utils.tensorboard
class SummaryWriter:
    def __init__(self, *args, **kwargs):
        pass

    def add_scalar(self, *args, **kwargs):
        pass

    add_scalars = add_image = add_images = add_histogram = add_graph = add_text = add_figure = add_embedding = flush = close = add_scalar
# == torch.utils.cpp_extension
def load(*args, **kwargs):
    raise RuntimeError('torch.utils.cpp_extension: no compiler here')


load_inline = load
CUDA_HOME = None
ROCM_HOME = None


def CUDAExtension(*args, **kwargs):
    raise RuntimeError('torch.utils.cpp_extension: no compiler here')


CppExtension = CUDAExtension


class BuildExtension:
    @classmethod
    def with_options(cls, **options):
        return cls
# == torch.cuda
import torch


def is_available():
    return False


def is_initialized():
    return False


def device_count():
    return 0


def current_device():
    return 0


def is_bf16_supported(*args):
    return False


def empty_cache():
    pass


def synchronize(device=None):
    pass


def set_device(device):
    pass


def manual_seed(seed):
    pass


def manual_seed_all(seed):
    pass


def max_memory_allocated(device=None):
    return 0


memory_allocated = memory_reserved = max_memory_reserved = max_memory_allocated


def reset_peak_memory_stats(device=None):
    pass


def get_device_capability(device=None):
    raise RuntimeError('No CUDA GPUs are available')


get_device_name = get_device_properties = get_device_capability


class device(torch.no_grad):
    pass


class stream(torch.no_grad):
    pass


class Stream:
    def __init__(self, *args, **kwargs):
        pass

    def wait_stream(self, stream):
        pass

    def synchronize(self):
        pass

    record_event = wait_event = wait_stream


class Event:
    def __init__(self, *args, **kwargs):
        pass

    def record(self, stream=None):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, end_event):
        return 0.0


FloatTensor, HalfTensor, BFloat16Tensor, DoubleTensor, LongTensor, IntTensor, ShortTensor, CharTensor, ByteTensor, BoolTensor = (
    torch._tensor_type(name, cuda=True) for name in ('Float', 'Half', 'BFloat16', 'Double', 'Long', 'Int', 'Short', 'Char', 'Byte', 'Bool'))


def _nothing(*args, **kwargs):
    pass


init = ipc_collect = set_per_process_memory_fraction = set_stream = reset_max_memory_allocated = seed = seed_all = _nothing
memory_summary = lambda *args, **kwargs: ''
current_stream = default_stream = lambda device=None: Stream()
# == torch.cuda.nvtx
def range_push(msg):
    return 0


def range_pop():
    return 0


def mark(msg):
    pass
# == torch.cuda.amp
import torch


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__('cuda', dtype, enabled)


def custom_fwd(fwd=None, **kwargs):
    return fwd if fwd is not None else lambda f: f


custom_bwd = custom_fwd


class GradScaler:
    def __init__(self, *args, **kwargs):
        pass

    def is_enabled(self):
        return False
# == torch.cuda.amp.autocast_mode
from torch.cuda.amp import autocast, custom_bwd, custom_fwd
# == torch.cpu
# == torch.cpu.amp
import torch


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.bfloat16, cache_enabled=True):
        super().__init__('cpu', dtype, enabled)
# == torch.cpu.amp.autocast_mode
from torch.cpu.amp import autocast
# == torch.amp
from torch import autocast
from torch.cuda.amp import GradScaler, custom_bwd, custom_fwd
# == torch.amp.autocast_mode
from torch import autocast
# == torch.distributed
import torch


def is_available():
    return False


def is_initialized():
    return False


def is_nccl_available():
    return False


def get_rank(group=None):
    return 0


def get_world_size(group=None):
    return 1


def barrier(*args, **kwargs):
    pass


def init_process_group(*args, **kwargs):
    raise RuntimeError('torch.distributed: one process only here')


def _needs_group(*args, **kwargs):
    raise RuntimeError('Default process group has not been initialized, please make sure to call init_process_group.')


all_reduce = all_gather = broadcast = reduce = gather = scatter = reduce_scatter = all_to_all = all_gather_object = new_group = _needs_group


class ReduceOp:
    SUM = 'sum'
    MEAN = AVG = 'avg'
    MAX = 'max'
    MIN = 'min'


class ProcessGroup:
    pass


class group:
    WORLD = None
def get_backend(group=None):
    _needs_group()


def destroy_process_group(group=None):
    pass


is_gloo_available = is_mpi_available = is_torchelastic_launched = is_nccl_available
monitored_barrier = all_gather_into_tensor = broadcast_object_list = scatter_object_list = send = recv = isend = irecv = _needs_group
_all_gather_base = reduce_scatter_tensor = all_to_all_single = gather_object = get_global_rank = _needs_group
# == torch.distributed.distributed_c10d
from torch.distributed import ReduceOp, all_gather, all_reduce, get_rank, get_world_size, is_initialized
# == torch.distributed.nn
from torch.distributed import all_gather, all_reduce
# == torch.distributed.nn.functional
from torch.distributed import all_gather, all_reduce
# == torch.multiprocessing
def set_start_method(method, force=False):
    pass


set_sharing_strategy = set_start_method


def get_start_method(allow_none=False):
    return 'fork'


def cpu_count():
    return 1
# == torch.optim
class Optimizer:
    def __init__(self, params, *args, **kwargs):
        self.param_groups = [{'params': params, **kwargs}]
        self.state = {}
        self.defaults = kwargs

    def zero_grad(self, set_to_none=True):
        pass

    def step(self, closure=None):
        raise RuntimeError('torch.optim does not run here')


class SGD(Optimizer):
    pass


class Adam(Optimizer):
    pass


class AdamW(Optimizer):
    pass


class RMSprop(Optimizer):
    pass


class Adagrad(Optimizer):
    pass


class LBFGS(Optimizer):
    pass


class Adadelta(Optimizer):
    pass


class Adamax(Optimizer):
    pass


class NAdam(Optimizer):
    pass


class RAdam(Optimizer):
    pass


class Rprop(Optimizer):
    pass


class ASGD(Optimizer):
    pass


class SparseAdam(Optimizer):
    pass
# == torch.optim.optimizer
from torch.optim import Optimizer

required = object()
# == torch.optim.adam
from torch.optim import Adam
# == torch.optim.adamw
from torch.optim import AdamW
# == torch.optim.sgd
from torch.optim import SGD
# == torch.optim.lr_scheduler
class _LRScheduler:
    def __init__(self, optimizer, *args, **kwargs):
        self.optimizer = optimizer


class LRScheduler(_LRScheduler):
    pass


class LambdaLR(_LRScheduler):
    pass


class StepLR(_LRScheduler):
    pass


class MultiStepLR(_LRScheduler):
    pass


class CosineAnnealingLR(_LRScheduler):
    pass


class OneCycleLR(_LRScheduler):
    pass


class ReduceLROnPlateau(_LRScheduler):
    pass


CosineAnnealingWarmRestarts = ExponentialLR = PolynomialLR = ConstantLR = LinearLR = CyclicLR = SequentialLR = MultiplicativeLR = StepLR
# == torch.optim.swa_utils
import copy

from torch.nn import Module


class AveragedModel(Module):
    def __init__(self, model, *args, **kwargs):
        super().__init__()
        self.module = copy.deepcopy(model)

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)
# == torch.nn.parallel
from torch.nn import Module


class DataParallel(Module):
    # Without a GPU it hands everything to the module.
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module
        self.device_ids = []

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0, **kwargs):
        super().__init__()
        self.module = module

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    return module(*(inputs if isinstance(inputs, tuple) else (inputs,)), **(module_kwargs or {}))
# == torch.nn.parallel.data_parallel
from torch.nn.parallel import DataParallel
# == torch.nn.parallel.distributed
from torch.nn.parallel import DistributedDataParallel
# == torch.nn.parallel.scatter_gather
def scatter_kwargs(*args, **kwargs):
    raise RuntimeError('torch.nn.parallel: one process only here')


gather = scatter = scatter_kwargs
# == torch.ao
# == torch.ao.quantization
from torch.nn import Module


class QuantStub(Module):
    # Before convert() a stub hands its input on.
    def __init__(self, qconfig=None):
        super().__init__()

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    pass


class QuantWrapper(Module):
    def __init__(self, module):
        super().__init__()
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.module = module

    def forward(self, X):
        return self.dequant(self.module(self.quant(X)))


def _no_quantization(*args, **kwargs):
    raise NotImplementedError('quantized networks are not covered: give the float model')


fuse_modules = fuse_modules_qat = prepare = prepare_qat = convert = quantize = quantize_dynamic = get_default_qconfig = _no_quantization
get_default_qat_qconfig = _no_quantization
default_qconfig = default_per_channel_qconfig = default_dynamic_qconfig = None


import torch


class QConfig:
    def __init__(self, activation, weight):
        self.activation = activation
        self.weight = weight
# == torch.quantization
from torch.ao.quantization import (DeQuantStub, QuantStub, QuantWrapper, convert, default_qconfig, fuse_modules, get_default_qat_qconfig,
                                   get_default_qconfig, prepare, prepare_qat, quantize, quantize_dynamic)
# == torch.ao.nn
# == torch.ao.nn.quantized
from torch.nn.quantized import FloatFunctional
# == torch.nn.intrinsic
# == torch.nn.quantized
import torch
from torch.nn import Module


class FloatFunctional(Module):
    def __init__(self):
        super().__init__()
        self.activation_post_process = torch.nn.Identity()

    def forward(self, x):
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the corresponding operation")

    def add(self, x, y):
        return self.activation_post_process(torch.add(x, y))

    def add_scalar(self, x, y):
        return torch.add(x, y)

    def mul(self, x, y):
        return self.activation_post_process(torch.mul(x, y))

    def mul_scalar(self, x, y):
        return torch.mul(x, y)

    def cat(self, x, dim=0):
        return self.activation_post_process(torch.cat(x, dim=dim))

    def add_relu(self, x, y):
        return self.activation_post_process(torch.nn.functional.relu(torch.add(x, y)))

    def matmul(self, x, y):
        return self.activation_post_process(torch.matmul(x, y))


class QFunctional(FloatFunctional):
    pass
# == torch.nn.quantized.modules

# == torch.sparse
import torch
# == functorch
import torch
from torch.nn.utils.stateless import functional_call


def vmap(func, in_dims=0, out_dims=0, randomness='error', *, chunk_size=None):
    def mapped(*args, **kwargs):
        torch._unsupported('vmap()', 'give the function the whole batch: most calls of torch take one, and einsum says which dimension is it')
    return mapped


def _no_transform(*args, **kwargs):
    torch._unsupported('derivatives by functorch', 'they are no part of a network at inference')


grad = grad_and_value = vjp = jvp = jacrev = jacfwd = hessian = functionalize = _no_transform
# == torch.func
from functorch import functional_call, functionalize, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap
