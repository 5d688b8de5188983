# torch.fx: the graph and its nodes, as programs edit them. One section each: "# == name"
# == torch.fx.node
from typing import Any, Callable, Union

import torch

Target = Union[Callable, str]
Argument = Any


def map_aggregate(a, fn):
    if isinstance(a, tuple):
        items = [map_aggregate(v, fn) for v in a]
        return type(a)(*items) if hasattr(a, '_fields') else tuple(items)
    if isinstance(a, list):
        return [map_aggregate(v, fn) for v in a]
    if isinstance(a, dict):
        return type(a)((k, map_aggregate(v, fn)) for k, v in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a, fn):
    return map_aggregate(a, lambda v: fn(v) if isinstance(v, Node) else v)


class Node:
    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users, self.meta, self._args, self._kwargs = {}, {}, (), {}
        self._set(args, kwargs)

    def _set(self, args, kwargs):
        for node in self.all_input_nodes:
            node.users.pop(self, None)
        self._args, self._kwargs = args, kwargs
        for node in self.all_input_nodes:
            node.users[self] = None

    @property
    def args(self):
        return self._args

    @args.setter
    def args(self, args):
        self._set(args, self._kwargs)

    @property
    def kwargs(self):
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._set(self._args, kwargs)

    @property
    def all_input_nodes(self):
        found = {}
        map_arg((self._args, self._kwargs), lambda n: found.setdefault(n))
        return list(found)

    def _neighbour(self, step):
        nodes = self.graph._nodes
        at = nodes.index(self) + step
        return nodes[at] if 0 <= at < len(nodes) else None

    @property
    def next(self):
        return self._neighbour(1)

    @property
    def prev(self):
        return self._neighbour(-1)

    def update_arg(self, index, arg):
        args = list(self.args)
        args[index] = arg
        self.args = tuple(args)

    def update_kwarg(self, key, arg):
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old, new):
        change = lambda n: new if n is old else n
        self._set(map_arg(self.args, change), map_arg(self.kwargs, change))

    def replace_all_uses_with(self, new, delete_user_cb=lambda user: True):
        users = [u for u in self.users if delete_user_cb(u)]
        for user in users:
            user.replace_input_with(self, new)
        return users

    def append(self, node):
        self.graph._nodes.remove(node)
        self.graph._nodes.insert(self.graph._nodes.index(self) + 1, node)

    def prepend(self, node):
        self.graph._nodes.remove(node)
        self.graph._nodes.insert(self.graph._nodes.index(self), node)

    def is_impure(self):
        return self.op in ('placeholder', 'output') or (self.op == 'call_function' and self.target is torch._assert)

    def format_node(self, *args):
        return '%' + self.name

    def __repr__(self):
        return self.name
# == torch.fx.graph
import builtins
import inspect
import re

from torch.fx.node import Node, map_arg

_ILLEGAL = re.compile('[^0-9a-zA-Z_]+')
_KEYWORDS = set('''False None True and as assert async await break class continue def del elif else except finally for from global
if import in is lambda nonlocal not or pass raise return try while with yield'''.split())
_SUFFIX = re.compile(r'(.*)_(\d+)$')
_RESERVED = {'inf', 'nan', 'NoneType', 'torch', 'device', 'fx_pytree', 'pytree'}


def _snake_case(text):
    out, lower = '', False
    for c in text:
        out += ('_' if lower and c.isupper() else '') + c.lower()
        lower = c.islower()
    return out


class _InsertPoint:
    def __init__(self, graph, at):
        self.graph, self.outer = graph, graph._insert
        graph._insert = at

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.graph._insert = self.outer


class Graph:
    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._nodes, self._names, self._insert = [], set(), None
        self.owning_module, self._tracer_cls = owning_module, tracer_cls

    @property
    def nodes(self):
        return list(self._nodes)

    def _target_to_str(self, target):
        op = target.__name__ if callable(target) else target
        return _snake_case(op[2:-2] if op[:2] == op[-2:] == '__' and len(op) > 4 and not callable(target) else op)

    def _new_name(self, candidate):
        candidate = _ILLEGAL.sub('_', candidate)
        if candidate[0].isdigit():
            candidate = '_' + candidate
        match = _SUFFIX.match(candidate)
        base, number = (candidate, 0) if match is None else (match.group(1), int(match.group(2)))
        while candidate in self._names or candidate in _RESERVED or candidate in _KEYWORDS or hasattr(builtins, candidate):
            number += 1
            candidate = '%s_%d' % (base, number)
        self._names.add(candidate)
        return candidate

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        node = Node(self, self._new_name(name if name is not None else self._target_to_str(target)), op, target, args or (), kwargs or {}, type_expr)
        if self._insert is None:
            self._nodes.append(node)
        else:
            self._nodes.insert(self._insert, node)
            self._insert += 1
        return node

    def erase_node(self, node):
        if node.users:
            raise RuntimeError('Tried to erase Node %s but it still had %d users in the graph: %s!' % (node, len(node.users), node.users))
        node._set((), {})
        self._nodes.remove(node)

    def inserting_before(self, n=None):
        return _InsertPoint(self, 0 if n is None else self._nodes.index(n))

    def inserting_after(self, n=None):
        return _InsertPoint(self, len(self._nodes) if n is None else self._nodes.index(n) + 1)

    def placeholder(self, name, type_expr=None, default_value=inspect.Parameter.empty):
        return self.create_node('placeholder', name, () if default_value is inspect.Parameter.empty else (default_value,), {}, None, type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        return self.create_node('get_attr', qualified_name, (), {}, None, type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        return self.create_node('call_module', module_name, args, kwargs, None, type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node('call_method', method_name, args, kwargs, None, type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None):
        return self.create_node('call_function', the_function, args, kwargs, None, type_expr)

    def output(self, result, type_expr=None):
        return self.create_node('output', 'output', (result,), {}, None, type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        made = self.create_node(node.op, node.target, map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform), node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def eliminate_dead_code(self, is_impure_node=None):
        before = len(self._nodes)
        for node in reversed(self.nodes):
            if not node.users and not (is_impure_node or Node.is_impure)(node):
                self.erase_node(node)
        return len(self._nodes) < before

    def lint(self):
        pass

    def __deepcopy__(self, memo):
        made, new = Graph(tracer_cls=self._tracer_cls), {}
        for node in self._nodes:
            new[node] = made.node_copy(node, lambda n: new[n])
        return made

    def __str__(self):
        return '\n'.join('%%%s = %s[%s](%s, %s)' % (n.name, n.op, n.target, n.args, n.kwargs) for n in self._nodes)

# == torch.fx.subgraph_rewriter
from collections import namedtuple

from torch.fx import symbolic_trace
from torch.fx.graph import Graph
from torch.fx.node import Node

Match = namedtuple('Match', ['anchor', 'nodes_map'])


def _graph_of(code):
    return code if isinstance(code, Graph) else code.graph if hasattr(code, 'graph') else symbolic_trace(code).graph


def _same(a, b, found):
    # Whether a value of the pattern stands for one of the graph; `found` fills with the nodes that do.
    if isinstance(a, Node) != isinstance(b, Node):
        return isinstance(a, Node) and a.op == 'placeholder' and found.setdefault(a, b) is b
    if isinstance(a, Node):
        if a in found:
            return found[a] is b
        if a.op != 'placeholder':
            if a.op != b.op or (a.op != 'get_attr' and a.target != b.target):
                return False
            if not _same(list(a.args), list(b.args), found) or not _same(dict(a.kwargs), dict(b.kwargs), found):
                return False
        found[a] = b
        return True
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(_same(x, y, found) for x, y in zip(a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_same(a[k], b[k], found) for k in a)
    return a == b


def _matches(graph, pattern):
    result = [n for n in pattern.nodes if n.op == 'output'][0].args[0]
    anchors = result if isinstance(result, (list, tuple)) else [result]
    taken = set()
    for node in graph.nodes:
        found = {}
        if len(anchors) != 1 or not _same(anchors[0], node, found):
            continue
        inner = [n for p, n in found.items() if p.op != 'placeholder']
        # What lies inside must serve nothing outside, and each node one match.
        if any(n in taken for n in inner) or any(u not in inner for n in inner if n is not node for u in n.users):
            continue
        taken.update(inner)
        yield Match(node, found)


def replace_pattern(gm, pattern, replacement):
    pattern, replacement = _graph_of(pattern), _graph_of(replacement)
    matches = list(_matches(gm.graph, pattern))
    inputs = [n for n in pattern.nodes if n.op == 'placeholder']
    instead = {}
    for match in matches:
        given = [match.nodes_map.get(n) for n in inputs]
        new = dict(zip([n for n in replacement.nodes if n.op == 'placeholder'], [instead.get(n, n) if isinstance(n, Node) else n for n in given]))
        with gm.graph.inserting_before(match.anchor):
            for node in replacement.nodes:
                if node.op not in ('placeholder', 'output'):
                    new[node] = gm.graph.node_copy(node, lambda n: new[n])
        result = [n for n in replacement.nodes if n.op == 'output'][0].args[0]
        result = new[result[0] if isinstance(result, (list, tuple)) else result]
        match.anchor.replace_all_uses_with(result)
        instead[match.anchor] = result
        for p in reversed(pattern.nodes):
            if p.op not in ('placeholder', 'output') and not match.nodes_map[p].users:
                gm.graph.erase_node(match.nodes_map[p])
    gm.recompile()
    return matches
