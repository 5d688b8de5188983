# Tracing and compiling, which change no network here. One section each: "# == name"
# == torch.fx
# Tracing is not needed here: the interpreter runs the model itself.
def wrap(fn_or_name):
    return fn_or_name


class Node:
    pass


class Tracer:
    def __init__(self, *args, **kwargs):
        pass

    def trace(self, root, concrete_args=None):
        raise NotImplementedError('torch.fx.Tracer.trace')


class Graph:
    pass


class GraphModule:
    pass


class Proxy:
    pass


class Interpreter:
    pass


class Transformer:
    pass


def symbolic_trace(root, *args, **kwargs):
    return root


def replace_pattern(*args, **kwargs):
    raise NotImplementedError('torch.fx.replace_pattern')
# == torch.fx.graph_module
from torch.fx import GraphModule
# == torch.fx.graph
from torch.fx import Graph
# == torch.fx.node
from torch.fx import Node
# == torch.fx.proxy
from torch.fx import Proxy
# == torch.fx._symbolic_trace
from torch.fx import Tracer, symbolic_trace, wrap
# == torch._dynamo
def allow_in_graph(fn):
    return fn


disable = disallow_in_graph = mark_dynamic = reset = graph_break = lambda *args, **kwargs: args[0] if args else None


class config:
    suppress_errors = False
# == torch.compiler
def disable(fn=None, recursive=True):
    return fn if fn is not None else lambda f: f


allow_in_graph = assume_constant_result = substitute_in_graph = disable


def is_compiling():
    return False


is_dynamo_compiling = is_compiling
