filters = []


def warn(message, category=None, stacklevel=1, source=None, **kwargs):
    pass


def warn_explicit(message, category, filename, lineno, *args, **kwargs):
    pass


def showwarning(message, category, filename, lineno, file=None, line=None):
    pass


def formatwarning(message, category, filename, lineno, line=None):
    return f"{filename}:{lineno}: {category.__name__}: {message}\n"


def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    pass


def simplefilter(action, category=Warning, lineno=0, append=False):
    pass


def resetwarnings():
    pass


class catch_warnings:
    def __init__(self, *, record=False, module=None, action=None, category=Warning, lineno=0, append=False):
        self._record = record

    def __enter__(self):
        return [] if self._record else None

    def __exit__(self, *exc_info):
        pass


defaultaction = "default"
onceregistry = {}


class WarningMessage:
    def __init__(self, message, category, filename, lineno, file=None, line=None, source=None):
        self.message, self.category, self.filename, self.lineno = message, category, filename, lineno
        self.file, self.line, self.source = file, line, source


# Since Python 3.13. Nobody is warned, so what is deprecated stays as it is.
class deprecated:
    def __init__(self, message, /, *, category=DeprecationWarning, stacklevel=1):
        if not isinstance(message, str):
            raise TypeError(f"Expected an object of type str for 'message', not {type(message).__name__!r}")
        self.message, self.category, self.stacklevel = message, category, stacklevel

    def __call__(self, arg, /):
        if not callable(arg):
            raise TypeError(
                "@deprecated decorator with non-None category must be applied to a class or callable, " f"not {arg!r}"
            )
        arg.__deprecated__ = self.message
        return arg
