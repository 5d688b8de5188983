"""Shorter variants of an expression, for composites_test.py to find the smallest that still
differs."""
import ast
import copy


def number_of(node):
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def in_place(node):
    """Ways to make one node simpler, as functions that change it (a copy of the tree is
    changed)."""
    if isinstance(node, ast.Call):
        for k in range(len(node.keywords)):
            yield lambda n, k=k: n.keywords.pop(k)
        if len(node.args) > 1 and getattr(node.func, "id", "") not in ("T", "C"):
            yield lambda n: n.args.pop()
    if isinstance(node, (ast.Tuple, ast.List)) and node.elts:
        for k in range(len(node.elts)):
            yield lambda n, k=k: n.elts.pop(k)
    value = number_of(node)
    if value is not None and value > 1:
        for smaller in sorted({1, 2, value - 1}):
            if smaller < value:
                yield lambda n, smaller=smaller: setattr(n, "value", smaller)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "T" and len(node.args) == 3:
        yield lambda n: n.args.pop()


def instead(node):
    """A part of a node that may stand in its place."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("eval", "transpose"):
            yield node.func.value
    if isinstance(node, ast.Subscript):
        yield node.value


class Replace(ast.NodeTransformer):
    def __init__(self, at, by):
        self.at, self.by = at, by

    def visit(self, node):
        return self.by if node is self.at else self.generic_visit(node)


def reductions(expression):
    """Texts of expressions that are one step simpler, the shortest first."""
    tree = ast.parse(expression, mode="eval")
    count, out = len(list(ast.walk(tree))), set()
    for k in range(count):
        node = list(ast.walk(tree))[k]
        for change in in_place(node):
            changed = copy.deepcopy(tree)
            change(list(ast.walk(changed))[k])
            out.add(ast.unparse(changed))
        for part in instead(node):
            changed = copy.deepcopy(tree)
            nodes = list(ast.walk(changed))
            replaced = nodes[k]
            by = next(instead(replaced)) if part is not None else replaced
            out.add(ast.unparse(ast.fix_missing_locations(Replace(replaced, by).visit(changed))))
    out.discard(expression)
    return sorted(out, key=len)
