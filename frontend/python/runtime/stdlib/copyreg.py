# Nothing is pickled here; who registers a way to do it is not asked again.
dispatch_table = {}


def pickle(ob_type, pickle_function, constructor_ob=None):
    if not callable(pickle_function):
        raise TypeError("reduction functions must be callable")
    dispatch_table[ob_type] = pickle_function
    if constructor_ob is not None:
        constructor(constructor_ob)


def constructor(object):
    if not callable(object):
        raise TypeError("constructors must be callable")


def add_extension(module, name, code):
    pass


remove_extension = add_extension


def clear_extension_cache():
    pass
