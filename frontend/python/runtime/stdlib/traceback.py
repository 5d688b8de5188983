def format_exc(limit=None, chain=True):
    import sys

    e = sys.exc_info()[1]
    return f"{type(e).__name__}: {e}\n" if e is not None else "NoneType: None\n"


def format_exception(exc, value=None, tb=None, limit=None, chain=True):
    e = value if value is not None else exc
    return [f"{type(e).__name__}: {e}\n"]


format_exception_only = format_exception


def print_exc(limit=None, file=None, chain=True):
    pass


print_exception = print_stack = print_tb = print_exc


def format_stack(f=None, limit=None):
    return []


format_tb = extract_stack = extract_tb = format_stack
