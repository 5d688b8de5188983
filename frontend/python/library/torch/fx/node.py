# The nodes of a traced network's graph, as programs edit them.
from typing import Any, Callable, Union

import torch

Target = Union[Callable, str]
Argument = Any


def map_aggregate(a, fn):
    if isinstance(a, tuple):
        items = [map_aggregate(v, fn) for v in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
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
        return self.op in ("placeholder", "output") or (self.op == "call_function" and self.target is torch._assert)

    def format_node(self, *args):
        return "%" + self.name

    def __repr__(self):
        return self.name
