def allow_in_graph(fn):
    return fn


assume_constant_result = forbid_in_graph = nonstrict_trace = allow_in_graph


def _first(*args, **kwargs):
    return args[0] if args else None


disable = disallow_in_graph = mark_dynamic = reset = graph_break = _first
mark_static = mark_static_address = maybe_mark_dynamic = mark_unbacked = _first


def is_compiling():
    return False


class config:
    suppress_errors = False
    cache_size_limit = 8
    capture_scalar_outputs = False
