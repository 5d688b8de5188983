"""CPython's tree in the canonical text that ast_writer.cc makes of ours."""
import ast
import struct

SKIPPED = {"type_comment", "type_ignores", "kind"}


def _constant(node):
    v = node.value
    if v is None or v is True or v is False:
        text = str(v)
    elif v is Ellipsis:
        text = "Ellipsis"
    elif isinstance(v, int):
        text = str(v)
    elif isinstance(v, float):
        text = "F" + struct.pack(">d", v).hex()
    elif isinstance(v, complex):
        text = "J" + struct.pack(">d", v.imag).hex()
    elif isinstance(v, str):
        b = v.encode("utf-8", "surrogatepass")
        text = "S%d:%s" % (len(b), b.decode("latin-1"))
    else:
        text = "B%d:%s" % (len(v), v.decode("latin-1"))
    return text + "," + (node.kind or "-")


def _scalar(v):
    if v is None:
        return "-"
    if isinstance(v, str):
        return v.encode("utf-8").decode("latin-1")
    return str(v)


def _value(v, positions):
    if isinstance(v, list):
        return "[" + ",".join([_value(x, positions) for x in v]) + "]"
    if isinstance(v, ast.AST):
        return _node(v, positions)
    return _scalar(v)


def _node(node, positions):
    cls = node.__class__
    if not node._fields:
        name = cls.__name__
        return name if not hasattr(node, "lineno") else name + _position(node, positions) + "()"
    if cls is ast.Constant:
        body = _constant(node)
    elif cls is ast.MatchSingleton:
        body = str(node.value)
    else:
        body = ",".join([_value(getattr(node, f), positions) for f in node._fields if f not in SKIPPED])
    return cls.__name__ + _position(node, positions) + "(" + body + ")"


def _position(node, positions):
    if not positions or "lineno" not in node._attributes:
        return ""
    return "@%d,%d,%d,%d" % (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def tree_text(tree, positions=True):
    """The text as bytes: names in UTF-8, constants as they are."""
    return _node(tree, positions).encode("latin-1")
