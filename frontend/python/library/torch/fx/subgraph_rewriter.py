from collections import namedtuple

from torch.fx import symbolic_trace
from torch.fx.graph import Graph
from torch.fx.node import Node

Match = namedtuple("Match", ["anchor", "nodes_map"])


def _graph_of(code):
    return code if isinstance(code, Graph) else code.graph if hasattr(code, "graph") else symbolic_trace(code).graph


def _same(a, b, found):
    # Whether a value of the pattern stands for one of the graph; `found` fills with the nodes that
    # do.
    if isinstance(a, Node) != isinstance(b, Node):
        return isinstance(a, Node) and a.op == "placeholder" and found.setdefault(a, b) is b
    if isinstance(a, Node):
        if a in found:
            return found[a] is b
        if a.op != "placeholder":
            if a.op != b.op or (a.op != "get_attr" and a.target != b.target):
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
    result = [n for n in pattern.nodes if n.op == "output"][0].args[0]
    anchors = result if isinstance(result, (list, tuple)) else [result]
    taken = set()
    for node in graph.nodes:
        found = {}
        if len(anchors) != 1 or not _same(anchors[0], node, found):
            continue
        inner = [n for p, n in found.items() if p.op != "placeholder"]
        # What lies inside must serve nothing outside, and each node one match.
        if any(n in taken for n in inner) or any(u not in inner for n in inner if n is not node for u in n.users):
            continue
        taken.update(inner)
        yield Match(node, found)


def replace_pattern(gm, pattern, replacement):
    pattern, replacement = _graph_of(pattern), _graph_of(replacement)
    matches = list(_matches(gm.graph, pattern))
    inputs = [n for n in pattern.nodes if n.op == "placeholder"]
    instead = {}
    for match in matches:
        given = [match.nodes_map.get(n) for n in inputs]
        new = dict(
            zip(
                [n for n in replacement.nodes if n.op == "placeholder"],
                [instead.get(n, n) if isinstance(n, Node) else n for n in given],
            )
        )
        with gm.graph.inserting_before(match.anchor):
            for node in replacement.nodes:
                if node.op not in ("placeholder", "output"):
                    new[node] = gm.graph.node_copy(node, lambda n: new[n])
        result = [n for n in replacement.nodes if n.op == "output"][0].args[0]
        result = new[result[0] if isinstance(result, (list, tuple)) else result]
        match.anchor.replace_all_uses_with(result)
        instead[match.anchor] = result
        for p in reversed(pattern.nodes):
            if p.op not in ("placeholder", "output") and not match.nodes_map[p].users:
                gm.graph.erase_node(match.nodes_map[p])
    gm.recompile()
    return matches
