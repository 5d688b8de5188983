from torch.fx import PH, Tracer, symbolic_trace, wrap


def is_fx_tracing():
    from torch.fx import _is_tracing

    return _is_tracing()
