def allow_ops_in_compiled_graph():
    pass
