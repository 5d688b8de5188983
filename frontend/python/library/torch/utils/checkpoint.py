def checkpoint(
    function,
    *args,
    use_reentrant=None,
    preserve_rng_state=True,
    context_fn=None,
    determinism_check=None,
    debug=None,
    **kwargs,
):
    return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    if hasattr(functions, "children"):
        functions = list(functions.children())
    for function in functions:
        input = function(input)
    return input
