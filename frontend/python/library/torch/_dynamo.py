def allow_in_graph(fn):
    return fn


disable = disallow_in_graph = mark_dynamic = reset = graph_break = lambda *args, **kwargs: args[0] if args else None


class config:
    suppress_errors = False
