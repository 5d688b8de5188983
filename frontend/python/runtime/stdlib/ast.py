"""literal_eval: what configs are written in. The rest of ast (trees of source) is not here."""
import _cobra


def literal_eval(node_or_string):
    text = node_or_string.lstrip(" \t")
    if not _cobra.is_literal(text):
        raise ValueError(f"malformed node or string: {node_or_string!r}")
    return eval(text, {})


def __getattr__(name):
    return _cobra.inert("ast." + name)
