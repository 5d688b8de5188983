# torch.nn.modules.module
from collections import OrderedDict, namedtuple


class _IncompatibleKeys(namedtuple('IncompatibleKeys', ['missing_keys', 'unexpected_keys'])):
    pass


class _RemovableHandle:
    _next = 0

    def __init__(self, hooks):
        self.hooks = hooks
        self.id = _RemovableHandle._next
        _RemovableHandle._next += 1

    def remove(self):
        self.hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.remove()


class Module(_ModuleBase):
    dump_patches = False
    _version = 1
    call_super_init = False

    def forward(self, *input):
        raise NotImplementedError('Module [%s] is missing the required "forward" function' % type(self).__name__)

    # ---- registration
    def register_buffer(self, name, tensor, persistent=True):
        if '_buffers' not in self.__dict__:
            raise AttributeError('cannot assign buffer before Module.__init__() call')
        if not isinstance(name, str):
            raise TypeError('buffer name should be a string. Got ' + type(name).__name__)
        if '.' in name:
            raise KeyError('buffer name can\'t contain "."')
        if name == '':
            raise KeyError('buffer name can\'t be empty string ""')
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError("attribute '%s' already exists" % name)
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_parameter(self, name, param):
        if '_parameters' not in self.__dict__:
            raise AttributeError('cannot assign parameter before Module.__init__() call')
        if '.' in name:
            raise KeyError('parameter name can\'t contain "."')
        if name == '':
            raise KeyError('parameter name can\'t be empty string ""')
        if hasattr(self, name) and name not in self._parameters:
            raise KeyError("attribute '%s' already exists" % name)
        if param is not None and not isinstance(param, _Parameter()):
            raise TypeError("cannot assign '%s' object to parameter '%s' (torch.nn.Parameter or None required)"
                            % (type(param).__name__, name))
        self._parameters[name] = param

    def add_module(self, name, module):
        if not isinstance(module, Module) and module is not None:
            raise TypeError('%s is not a Module subclass' % type(module).__name__)
        if not isinstance(name, str):
            raise TypeError('module name should be a string. Got ' + type(name).__name__)
        if hasattr(self, name) and name not in self._modules:
            raise KeyError("attribute '%s' already exists" % name)
        if '.' in name:
            raise KeyError('module name can\'t contain ".", got: ' + name)
        if name == '':
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = module

    def register_module(self, name, module):
        self.add_module(name, module)

    # ---- access by path
    def get_submodule(self, target):
        module = self
        if target == '':
            return self
        for item in target.split('.'):
            if not hasattr(module, item):
                raise AttributeError(module._get_name() + ' has no attribute `' + item + '`')
            module = getattr(module, item)
            if not isinstance(module, Module):
                raise AttributeError('`' + item + '` is not an nn.Module')
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition('.')
        return getattr(self.get_submodule(path), name)

    def get_buffer(self, target):
        path, _, name = target.rpartition('.')
        return getattr(self.get_submodule(path), name)

    # ---- iteration
    def _named_members(self, get_members, prefix='', recurse=True, remove_duplicate=True):
        seen = set()
        for module_prefix, module in (self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]):
            for name, value in get_members(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield module_prefix + ('.' if module_prefix else '') + name, value

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(self, prefix='', recurse=True, remove_duplicate=True):
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix='', recurse=True, remove_duplicate=True):
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_children(self):
        memo = set()
        for name, module in self._modules.items():
            if module is not None and id(module) not in memo:
                memo.add(id(module))
                yield name, module

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def named_modules(self, memo=None, prefix='', remove_duplicate=True):
        # An explicit stack: children in order, depth first.
        if memo is None:
            memo = set()
        stack = [(prefix, self)]
        while stack:
            path, module = stack.pop()
            if id(module) in memo:
                continue
            if remove_duplicate:
                memo.add(id(module))
            yield path, module
            below = [(path + ('.' if path else '') + name, child) for name, child in module._modules.items() if child is not None]
            stack.extend(reversed(below))

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # ---- modes, devices, dtypes
    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError('training mode is expected to be boolean')
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        pass

    def _apply(self, fn):
        for module in self.children():
            module._apply(fn)
        for tensors in (self._parameters, self._buffers):
            for name, tensor in tensors.items():
                if tensor is None:
                    continue
                changed = fn(tensor)
                if changed is not tensor:
                    if tensors is self._parameters:
                        tensor.data = changed
                    else:
                        tensors[name] = changed
        return self

    def to(self, *args, **kwargs):
        dtype = kwargs.get('dtype')
        for arg in args:
            if type(arg).__name__ == 'dtype':
                dtype = arg
            elif type(arg).__name__ in ('Tensor', 'Parameter'):
                dtype = arg.dtype
        if dtype is None:
            return self
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cuda(self, device=None):
        return self

    def cpu(self):
        return self

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        return self

    # ---- hooks
    def _add_hook(self, hooks, hook):
        handle = _RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def register_forward_hook(self, hook, **kwargs):
        return self._add_hook(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook, **kwargs):
        return self._add_hook(self._forward_pre_hooks, hook)

    def register_full_backward_hook(self, hook, **kwargs):
        return self._add_hook(self._backward_hooks, hook)

    def register_backward_hook(self, hook):
        return self._add_hook(self._backward_hooks, hook)

    def _register_state_dict_hook(self, hook):
        return self._add_hook(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return self._add_hook(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook):
        return _RemovableHandle({})

    # ---- state: weights change no graph
    def state_dict(self, *args, destination=None, prefix='', keep_vars=False):
        if destination is None:
            destination = OrderedDict()
        for path, module in self.named_modules(remove_duplicate=False):
            for name, value in module._parameters.items():
                if value is not None:
                    destination[prefix + path + ('.' if path else '') + name] = value
            for name, value in module._buffers.items():
                if value is not None and name not in module._non_persistent_buffers_set:
                    destination[prefix + path + ('.' if path else '') + name] = value
        return destination

    def load_state_dict(self, state_dict, strict=True, assign=False):
        return _IncompatibleKeys([], [])

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        pass

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        pass

    def get_extra_state(self):
        raise RuntimeError('Reached a code path in Module.get_extra_state() that should never be called.')

    # ---- text
    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        return ''

    def __repr__(self):
        children = ['  (%s): %s' % (name, repr(module).replace('\n', '\n  ')) for name, module in self._modules.items()]
        if not children:
            return self._get_name() + '(' + self.extra_repr() + ')'
        return self._get_name() + '(\n' + '\n'.join(children) + '\n)'

    def __dir__(self):
        return sorted(set(dir(type(self))) | set(self.__dict__) | set(self._parameters) | set(self._buffers) | set(self._modules))


def _Parameter():
    from torch.nn.parameter import Parameter
    return Parameter


_set_module_class(Module)


def register_module_forward_hook(hook):
    return _RemovableHandle({})


def register_module_forward_pre_hook(hook):
    return _RemovableHandle({})
