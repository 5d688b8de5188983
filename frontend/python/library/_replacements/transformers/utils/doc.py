import functools

# A copy of a function has documentation of its own. The library's own makes it from the function's
# globals, which would load all that they import.
__all__ = ["copy_func", "get_docstring_indentation_level"]


def copy_func(f):
    f = getattr(f, "__func__", f)

    @functools.wraps(f)
    def copy(*args, **kwargs):
        return f(*args, **kwargs)

    return copy


def get_docstring_indentation_level(func):
    return 8  # the library's own looks into its text; of documentation only
