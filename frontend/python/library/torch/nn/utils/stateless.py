def _slot(module, path):
    *prefix, name = path.split(".")
    for item in prefix:
        module = getattr(module, item)
    for slots in (module._parameters, module._buffers):
        if name in slots:
            return slots, name
    raise KeyError("'{}' is not a parameter or a buffer of the module".format(path))


def functional_call(module, parameters_and_buffers, args, kwargs=None, *, tie_weights=True, strict=False):
    # The module runs with these tensors in place of its own; 2.x takes several dicts.
    given = parameters_and_buffers
    if isinstance(given, (tuple, list)):
        given = {name: value for part in given for name, value in part.items()}
    args = args if isinstance(args, tuple) else (args,)
    own = []
    try:
        for path, value in given.items():
            slots, name = _slot(module, path)
            own.append((slots, name, slots[name]))
            slots[name] = value
        return module(*args, **(kwargs or {}))
    finally:
        for slots, name, value in reversed(own):
            slots[name] = value
