def has_torch_function(*args):
    return False


has_torch_function_unary = has_torch_function_variadic = has_torch_function


def handle_torch_function(*args, **kwargs):
    raise RuntimeError("handle_torch_function")
