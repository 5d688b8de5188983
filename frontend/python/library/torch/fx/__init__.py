# A network is traced with proxies instead of tensors, and the graph of what they met is run node by
# node.
import builtins
import inspect
import math
import operator

import torch
import torch.nn.functional
from torch.fx.graph import Graph
from torch.fx.node import Node, map_aggregate, map_arg
from torch.nn import Module

_wrapped = []  # (globals, name): functions that a trace does not look into
PH = object()  # the placeholder of concrete_args


class TraceError(ValueError):
    pass


def wrap(fn_or_name):
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    _wrapped.append((_caller_globals(), fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__))
    return fn_or_name


class Proxy:
    def __init__(self, node, tracer=None):
        self.tracer = tracer if tracer is not None else GraphAppendingTracer(node.graph)
        self.node = node

    def __repr__(self):
        return "Proxy(%s)" % self.node.name

    def __getattr__(self, name):
        return Attribute(self, name)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self,) + args, kwargs)

    def __iter__(self):
        count = _unpack_count()
        return iter([self[i] for i in range(count)]) if count else self.tracer.iter(self)

    def __bool__(self):
        return self.tracer.to_bool(self)

    def keys(self):
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call torch.fx.wrap('len') "
            "at module scope"
        )

    __hash__ = object.__hash__


class Attribute(Proxy):
    # A node only if it is not called: x.size() is one call_method.
    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root,) + args, kwargs)


def _add_operators():
    def direct(name):
        target = getattr(operator, name)
        return lambda *args: args[0].tracer.create_proxy("call_function", target, args, {})

    def reflected(name):
        target = getattr(operator, name)
        return lambda self, rhs: self.tracer.create_proxy("call_function", target, (rhs, self), {})

    both = [
        "add",
        "sub",
        "mul",
        "floordiv",
        "truediv",
        "mod",
        "pow",
        "lshift",
        "rshift",
        "and_",
        "or_",
        "xor",
        "matmul",
    ]
    for name in both + ["eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert", "getitem"]:
        setattr(Proxy, "__%s__" % name.strip("_"), direct(name))
    for name in both:
        setattr(Proxy, "__r%s__" % name.strip("_"), reflected(name))


_add_operators()


def _has_proxy(args):
    found = []
    map_aggregate(args, lambda v: found.append(v) if isinstance(v, Proxy) else None)
    return found[0] if found else None


def _call_with_proxies(space, name, proxy, args, kwargs):
    # Called by frontend/python/torch/functions/functions.cc where a function of torch (or a method
    # of a tensor) is given a proxy.
    if name == "einsum" and len(args) == 2 and isinstance(args[1], (tuple, list)):
        args = (args[0], *args[1])  # PyTorch takes the list apart before it looks for proxies
    if space in "mi":
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)
    for home in {
        "t": (torch,),
        "F": (torch.nn.functional,),
        "f": (torch.fft,),
        "l": (torch.linalg,),
        "v": (torch.ops.torchvision,),
    }.get(space, (torch.nn.functional, torch)):
        if hasattr(home, name):
            return proxy.tracer.create_proxy(
                "call_function", getattr(home, name), args, kwargs, name=proxy.tracer.graph._target_to_str(name)
            )


class TracerBase:
    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node):
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        node = self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs), name, type_expr)
        return self.proxy(node) if not proxy_factory_fn else proxy_factory_fn(node)

    def create_arg(self, a):
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*[self.create_arg(v) for v in a])
        if isinstance(a, (tuple, list)):
            return type(a)([self.create_arg(v) for v in a])
        if isinstance(a, dict):
            return {k: self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        return a

    def to_bool(self, obj):
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs function "
            "argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control flow can be traced"
        )

    def keys(self, obj):
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    def __init__(self, graph):
        self.graph = graph


class Tracer(TracerBase):
    traced_func_name = "forward"

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        self._autowrap_search = list(autowrap_modules)
        self._autowrap_ids = {
            id(f) for m in autowrap_modules for n, f in vars(m).items() if not n.startswith("_") and _is_function(f)
        }
        self._autowrap_ids.update(id(f) for f in autowrap_functions)
        self.submodule_paths = None

    def create_arg(self, a):
        if isinstance(a, torch.nn.Parameter):
            for name, value in self.root.named_parameters():
                if a is value:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, torch.Tensor):
            for name, value in self.root.named_buffers():
                if a is value:
                    return self.create_node("get_attr", name, (), {})
            name = self.tensor_attrs.get(a)
            if not name:
                number = 0
                while hasattr(self.root, "_tensor_constant%d" % number):
                    number += 1
                name = self.tensor_attrs[a] = "_tensor_constant%d" % number
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, Module):
            for name, value in self.root.named_modules():
                if a is value:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(v) for v in a), {})
        return super().create_arg(a)

    def is_leaf_module(self, m, module_qualified_name):
        return m.__module__.startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, torch.nn.Sequential)

    def path_of_module(self, mod):
        path = (self.submodule_paths or {m: n for n, m in self.root.named_modules()}).get(mod)
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        return (
            self.create_proxy("call_module", path, args, kwargs)
            if self.is_leaf_module(m, path)
            else forward(*args, **kwargs)
        )

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        if isinstance(attr_val, torch.nn.Parameter):
            for name, value in self.root.named_parameters():
                if attr_val is value:
                    if name not in parameter_proxy_cache:
                        parameter_proxy_cache[name] = self.create_proxy("get_attr", name, (), {})
                    return parameter_proxy_cache[name]
        return attr_val

    def _placeholders(self, fn, skip, concrete_args):
        args = []
        for name, parameter in list(inspect.signature(fn).parameters.items())[skip:]:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            default = () if parameter.default is parameter.empty else (parameter.default,)
            if concrete_args is not None and name in concrete_args and concrete_args[name] is not PH:
                self.create_proxy("placeholder", name + "_1", (concrete_args[name],), {})
                args.append((parameter, concrete_args[name]))
            else:
                args.append((parameter, self.create_proxy("placeholder", name, default, {})))
        return (
            [v for p, v in args if p.kind != p.KEYWORD_ONLY],
            {p.name: v for p, v in args if p.kind == p.KEYWORD_ONLY},
        )

    def trace(self, root, concrete_args=None):
        if isinstance(root, Module):
            self.root, fn = root, getattr(type(root), self.traced_func_name)
            self.submodule_paths = {m: n for n, m in root.named_modules()}
        else:
            self.root, fn = Module(), root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {
            v: n + ("." if n else "") + k
            for n, m in self.root.named_modules()
            for k, v in vars(m).items()
            if isinstance(v, torch.Tensor)
        }
        positional, keywords = self._placeholders(fn, 1 if isinstance(root, Module) else 0, concrete_args)
        if isinstance(root, Module):
            positional.insert(0, root)
        with _Patches(self) as patches:
            patches.wrap_names(getattr(fn, "__globals__", {}))
            self.create_node("output", "output", (self.create_arg(fn(*positional, **keywords)),), {})
        self.submodule_paths = None
        return self.graph


def _is_function(value):
    return callable(value) and not isinstance(value, type)


class _Patches:
    # While a network is traced: calls of modules, their parameters, and the functions that are not
    # looked into.
    def __init__(self, tracer):
        self.tracer, self.undo = tracer, []

    def __enter__(self):
        tracer, proxies = self.tracer, {}
        call, get = Module.__call__, Module.__getattr__

        def module_call(module, *args, **kwargs):
            self.wrap_names(getattr(getattr(type(module), "forward", None), "__globals__", {}))
            return tracer.call_module(module, lambda *a, **k: call(module, *a, **k), args, kwargs)

        Module.__call__ = module_call
        Module.__getattr__ = lambda module, name: tracer.getattr(name, get(module, name), proxies)
        self.outer = _set_tracing(True)
        for names, name in _wrapped:
            self.wrap_name(names, name)
        for module in tracer._autowrap_search:
            self.wrap_names(vars(module))
        return self

    def __exit__(self, *args):
        del Module.__call__, Module.__getattr__
        _set_tracing(self.outer)
        for names, name, value in reversed(self.undo):
            if value is None:
                del names[name]
            else:
                names[name] = value

    def wrap_names(self, names):
        for name, value in list(names.items()):
            if not name.startswith("_") and id(value) in self.tracer._autowrap_ids and _is_function(value):
                self.wrap_name(names, name)

    def wrap_name(self, names, name):
        own = names.get(name)
        function = own if own is not None else getattr(builtins, name)

        def recorded(*args, **kwargs):
            proxy = _has_proxy((args, kwargs))
            return (
                function(*args, **kwargs)
                if proxy is None
                else proxy.tracer.create_proxy("call_function", function, args, kwargs)
            )

        self.undo.append((names, name, own))
        names[name] = recorded


def _copy_attr(from_module, to_module, target):
    *prefix, field = target.split(".")
    for item in prefix:
        below, copied = getattr(from_module, item), getattr(to_module, item, None)
        if below is copied:
            return
        if copied is None:
            copied = Module()
            setattr(to_module, item, copied)
        from_module, to_module = below, copied
    value = getattr(from_module, field)
    if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter):
        to_module.register_buffer(field, value)
    else:
        setattr(to_module, field, value)


def _attribute(root, path):
    for name in path.split("."):
        root = getattr(root, name)
    return root


class Interpreter:
    def __init__(self, module, garbage_collect_values=True):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.env = {}

    def run(self, *args, initial_env=None, enable_io_processing=True, **kwargs):
        self.env, self.given, self.named = dict(initial_env or {}), list(args), dict(kwargs)
        for node in self.module.graph.nodes:
            if node not in self.env:
                self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]

    def run_node(self, n):
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def fetch_args_kwargs_from_env(self, n):
        return map_arg(n.args, self.env.__getitem__), map_arg(n.kwargs, self.env.__getitem__)

    def map_nodes_to_values(self, args, n):
        return map_arg(args, self.env.__getitem__)

    def fetch_attr(self, target):
        return _attribute(self.module, target)

    def placeholder(self, target, args, kwargs):
        if self.given:
            return self.given.pop(0)
        if target in self.named:
            return self.named.pop(target)
        if args:
            return args[0]
        raise TypeError("forward() missing 1 required positional argument: '%s'" % target)

    def get_attr(self, target, args, kwargs):
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target, args, kwargs):
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        return args[0]


class _Rewriting(Tracer):
    # What a Transformer's calls are written to.
    def __init__(self, graph, root):
        super().__init__()
        self.graph, self.root, self.tensor_attrs = graph, root, {}

    def is_leaf_module(self, m, module_qualified_name):
        return True


class Transformer(Interpreter):
    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = _Rewriting(self.new_graph, module)

    def placeholder(self, target, args, kwargs):
        return Proxy(
            self.new_graph.placeholder(target, default_value=next(iter(args)) if args else inspect.Parameter.empty),
            self.tracer,
        )

    def get_attr(self, target, args, kwargs):
        return Proxy(self.new_graph.get_attr(target), self.tracer)

    def call_module(self, target, args, kwargs):
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target, args, kwargs):
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        outer = _set_tracing(True)
        try:
            result = super().run(enable_io_processing=False)
        finally:
            _set_tracing(outer)
        if result is not None:
            self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
        return GraphModule(self.module, self.new_graph)


class GraphModule(Module):
    def __new__(cls, *args, **kwargs):
        class GraphModuleImpl(cls):
            __new__ = object.__new__

        return object.__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        else:
            for path in sorted(root, key=lambda p: p.count(".")):
                *prefix, field = path.split(".")
                at = self
                for item in prefix:
                    if not hasattr(at, item):
                        setattr(at, item, Module())
                    at = getattr(at, item)
                setattr(at, field, root[path])
        self.graph = graph

    @property
    def graph(self):
        return self._graph

    @graph.setter
    def graph(self, graph):
        self._graph = graph
        graph.owning_module = self

    def forward(self, *args, **kwargs):
        return Interpreter(self).run(*args, **kwargs)

    def recompile(self):
        return None

    def add_submodule(self, target, m):
        *prefix, field = target.split(".")
        at = self
        for item in prefix:
            if not hasattr(at, item):
                setattr(at, item, Module())
            at = getattr(at, item)
        at.add_module(field, m)
        return True

    def delete_submodule(self, target):
        path, _, field = target.rpartition(".")
        delattr(self.get_submodule(path), field)
        return True

    def delete_all_unused_submodules(self):
        used = [n.target for n in self.graph.nodes if n.op in ("call_module", "get_attr")]
        for name, _ in list(self.named_modules()):
            if name and not any(u == name or u.startswith(name + ".") or name.startswith(u + ".") for u in used):
                try:
                    self.delete_submodule(name)
                except AttributeError:
                    pass

    @property
    def code(self):
        return str(self.graph)


def symbolic_trace(root, concrete_args=None, *args, **kwargs):
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    return GraphModule(tracer.root, graph, type(root).__name__ if isinstance(root, Module) else root.__name__)


def replace_pattern(gm, pattern, replacement):
    from torch.fx.subgraph_rewriter import replace_pattern

    return replace_pattern(gm, pattern, replacement)


_set_proxy_class(Proxy, _call_with_proxies)
