# The graph of a traced network, as programs edit it.
import builtins
import inspect
import re

from torch.fx.node import Node, map_arg

_ILLEGAL = re.compile("[^0-9a-zA-Z_]+")
_KEYWORDS = set(
    """False None True and as assert async await break class continue def del elif else except finally for from global
if import in is lambda nonlocal not or pass raise return try while with yield""".split()
)
_SUFFIX = re.compile(r"(.*)_(\d+)$")
_RESERVED = {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"}


def _snake_case(text):
    out, lower = "", False
    for c in text:
        out += ("_" if lower and c.isupper() else "") + c.lower()
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
        return _snake_case(op[2:-2] if op[:2] == op[-2:] == "__" and len(op) > 4 and not callable(target) else op)

    def _new_name(self, candidate):
        candidate = _ILLEGAL.sub("_", candidate)
        if candidate[0].isdigit():
            candidate = "_" + candidate
        match = _SUFFIX.match(candidate)
        base, number = (candidate, 0) if match is None else (match.group(1), int(match.group(2)))
        while (
            candidate in self._names or candidate in _RESERVED or candidate in _KEYWORDS or hasattr(builtins, candidate)
        ):
            number += 1
            candidate = "%s_%d" % (base, number)
        self._names.add(candidate)
        return candidate

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        node = Node(
            self,
            self._new_name(name if name is not None else self._target_to_str(target)),
            op,
            target,
            args or (),
            kwargs or {},
            type_expr,
        )
        if self._insert is None:
            self._nodes.append(node)
        else:
            self._nodes.insert(self._insert, node)
            self._insert += 1
        return node

    def erase_node(self, node):
        if node.users:
            raise RuntimeError(
                "Tried to erase Node %s but it still had %d users in the graph: %s!"
                % (node, len(node.users), node.users)
            )
        node._set((), {})
        self._nodes.remove(node)

    def inserting_before(self, n=None):
        return _InsertPoint(self, 0 if n is None else self._nodes.index(n))

    def inserting_after(self, n=None):
        return _InsertPoint(self, len(self._nodes) if n is None else self._nodes.index(n) + 1)

    def placeholder(self, name, type_expr=None, default_value=inspect.Parameter.empty):
        return self.create_node(
            "placeholder",
            name,
            () if default_value is inspect.Parameter.empty else (default_value,),
            {},
            None,
            type_expr,
        )

    def get_attr(self, qualified_name, type_expr=None):
        return self.create_node("get_attr", qualified_name, (), {}, None, type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_module", module_name, args, kwargs, None, type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_method", method_name, args, kwargs, None, type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_function", the_function, args, kwargs, None, type_expr)

    def output(self, result, type_expr=None):
        return self.create_node("output", "output", (result,), {}, None, type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        made = self.create_node(
            node.op,
            node.target,
            map_arg(node.args, arg_transform),
            map_arg(node.kwargs, arg_transform),
            node.name,
            node.type,
        )
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
        return "\n".join("%%%s = %s[%s](%s, %s)" % (n.name, n.op, n.target, n.args, n.kwargs) for n in self._nodes)
