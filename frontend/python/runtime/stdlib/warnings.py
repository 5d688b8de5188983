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
