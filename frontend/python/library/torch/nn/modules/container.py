from collections import OrderedDict
from collections.abc import Iterable, Mapping
import operator

import torch
from torch.nn.modules.module import Module, _body
from torch.nn.parameter import Parameter


def _move_up(modules, size, index, module):
    # insert() of the lists, which takes every name to be the module's index: a KeyError after
    # slicing, as in PyTorch.
    for i in range(size, index, -1):
        modules[str(i)] = modules[str(i - 1)]
    modules[str(index)] = module


def _pairs(kind, pairs):
    # The items of an iterable of pairs that update() of a dictionary takes.
    for j, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(
                "{} update sequence element #{} should be Iterable; is{}".format(kind, j, type(pair).__name__)
            )
        if len(pair) != 2:
            raise ValueError("{} update sequence element #{} has length {}; 2 is required".format(kind, j, len(pair)))
        yield pair[0], pair[1]


class Sequential(Module):
    @_body("sequential_init", "add_module")
    def __init__(self, *args):
        # One argument, and no module.
        super().__init__()
        for key, module in args[0].items() if isinstance(args[0], OrderedDict) else [("0", args[0])]:
            self.add_module(key, module)

    def _key(self, idx):
        size = len(self)
        idx = operator.index(idx)
        if not -size <= idx < size:
            raise IndexError("index {} is out of range".format(idx))
        return list(self._modules.keys())[idx % size]

    @_body("item", "__len__", "_key")
    def __getitem__(self, idx):
        # A slice.
        return self.__class__(OrderedDict(list(self._modules.items())[idx]))

    def __setitem__(self, idx, module):
        return setattr(self, self._key(idx), module)

    def __delitem__(self, idx):
        if isinstance(idx, slice):
            for key in list(self._modules.keys())[idx]:
                delattr(self, key)
        else:
            delattr(self, self._key(idx))
        renamed = list(self._modules.values())
        self._modules = OrderedDict((str(i), module) for i, module in enumerate(renamed))

    @_body("length")
    def __len__(self):
        ...

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but {} is given.".format(str(type(other)))
            )
        ret = Sequential()
        for layer in self:
            ret.append(layer)
        for layer in other:
            ret.append(layer)
        return ret

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, but {} is given.".format(str(type(other)))
            )
        for module in list(other):
            self.append(module)
        return self

    def __mul__(self, other):
        if not isinstance(other, int):
            raise TypeError("unsupported operand type(s) for *: {} and {}".format(type(self), type(other)))
        if other <= 0:
            raise ValueError("Non-positive multiplication factor {} for {}".format(other, type(self)))
        return Sequential(*[module for _ in range(other) for module in self])

    __rmul__ = __mul__

    def __imul__(self, other):
        if not isinstance(other, int):
            raise TypeError("unsupported operand type(s) for *: {} and {}".format(type(self), type(other)))
        if other <= 0:
            raise ValueError("Non-positive multiplication factor {} for {}".format(other, type(self)))
        size = len(self)
        for i in range(size * (other - 1)):
            self.add_module(str(size + i), self._modules[str(i % size)])
        return self

    def pop(self, key):
        v = self[key]
        del self[key]
        return v

    def __iter__(self):
        return iter(self._modules.values())

    @_body("sequential_forward", "__iter__")
    def forward(self, input):
        ...

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        if not isinstance(module, Module):
            raise AssertionError("module should be of type: {}".format(Module))
        n = len(self._modules)
        if not -n <= index <= n:
            raise IndexError("Index out of range: {}".format(index))
        _move_up(self._modules, n, index + n if index < 0 else index, module)
        return self

    def extend(self, sequential):
        for layer in sequential:
            self.append(layer)
        return self


class ModuleList(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def _key(self, idx):
        idx = operator.index(idx)
        if not -len(self) <= idx < len(self):
            raise IndexError("index {} is out of range".format(idx))
        if idx < 0:
            idx += len(self)
        return str(idx)

    @_body("item", "__len__", "_key")
    def __getitem__(self, idx):
        # A slice.
        return self.__class__(list(self._modules.values())[idx])

    def __setitem__(self, idx, module):
        return setattr(self, self._key(idx), module)

    def __delitem__(self, idx):
        if isinstance(idx, slice):
            for k in range(len(self._modules))[idx]:
                delattr(self, str(k))
        else:
            delattr(self, self._key(idx))
        self._modules = OrderedDict((str(i), module) for i, module in enumerate(list(self._modules.values())))

    @_body("length")
    def __len__(self):
        ...

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        combined = ModuleList()
        for i, module in enumerate(list(self) + list(other)):
            combined.add_module(str(i), module)
        return combined

    def __contains__(self, module):
        return any(m is module for m in self)

    def insert(self, index, module):
        _move_up(self._modules, len(self._modules), index, module)

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        v = self[key]
        del self[key]
        return v

    @_body("extend", "add_module", "__len__")
    def extend(self, modules):
        ...

    def forward(self, *args):
        raise NotImplementedError('Module [ModuleList] is missing the required "forward" function')


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        v = self[key]
        del self[key]
        return v

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()

    def update(self, modules):
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                + type(modules).__name__
            )
        if isinstance(modules, (ModuleDict, Mapping)):
            modules = modules.items()
        else:
            modules = _pairs("ModuleDict", modules)
        for key, module in modules:
            self[key] = module

    def forward(self, *args):
        raise NotImplementedError('Module [ModuleDict] is missing the required "forward" function')


def _tensor_text(name, value, type_name):
    # One line of a parameter container's text.
    size = "x".join(str(n) for n in value.size())
    return "  ({}): {} containing: [{} of size {}]".format(
        name, "Parameter" if isinstance(value, Parameter) else "Tensor", type_name, size
    )


class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            out = self.__class__()
            for i in range(*idx.indices(len(self))):
                out.append(self[i])
            return out
        return getattr(self, self._key(idx))

    def _key(self, idx):
        idx = operator.index(idx)
        if not -len(self) <= idx < len(self):
            raise IndexError("index {} is out of range".format(idx))
        return str(idx % len(self))

    def __setitem__(self, idx, param):
        key = self._key(idx)
        if isinstance(param, torch.Tensor) and not isinstance(param, Parameter):
            param = Parameter(param)
        return setattr(self, key, param)

    def extra_repr(self):
        return "\n".join(
            _tensor_text(i, v, v.dtype)
            if isinstance(v, torch.Tensor)
            else "  ({}): Object of type: {}".format(i, type(v).__name__)
            for i, v in enumerate(self)
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __iadd__(self, parameters):
        return self.extend(parameters)

    def append(self, value):
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        if not isinstance(values, Iterable) or isinstance(values, torch.Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in values:
            self.append(value)
        return self


class ParameterDict(Module):
    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is '%s'). "
                "Open an issue on github if you need non-string keys." % type(key).__name__
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        attr = self._key_to_attr(key)
        if isinstance(value, torch.Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, attr, value)

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def extra_repr(self):
        return "\n".join(
            _tensor_text(k, v, torch.typename(v))
            if isinstance(v, torch.Tensor)
            else "  ({}): Object of type: {}".format(k, type(v).__name__)
            for k, v in self.items()
        )

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def get(self, key, default=None):
        return self[key] if key in self else default

    def keys(self):
        return self._keys.keys()

    def items(self):
        return ((k, self[k]) for k in self._keys)

    def values(self):
        return (self[k] for k in self._keys)

    def copy(self):
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def clear(self):
        for k in list(self._keys):
            del self[k]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key = list(self._keys)[-1]
        return key, self.pop(key)

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def fromkeys(self, keys, default=None):
        return ParameterDict((k, default) for k in keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __or__(self, other):
        copy = self.copy()
        copy.update(other)
        return copy

    def __ror__(self, other):
        copy = other.copy()
        copy.update(self)
        return copy

    def __ior__(self, other):
        self.update(other)
        return self

    def update(self, parameters):
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but got "
                + type(parameters).__name__
            )
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            parameters = parameters.items()
        elif isinstance(parameters, Mapping):  # a plain dict too: its order is not kept
            parameters = sorted(parameters.items())
        else:
            parameters = _pairs("ParameterDict", parameters)
        for key, value in parameters:
            self[key] = value


Container = Module
