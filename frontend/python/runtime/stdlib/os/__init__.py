import _cobra
import abc
from os import path

name = "posix"
sep = "/"
altsep = None
extsep = "."
pathsep = ":"
linesep = "\n"
curdir = "."
pardir = ".."
devnull = "/dev/null"


class _Environ(dict):
    def __missing__(self, key):
        raise _cobra.explained(
            KeyError(key),
            "a model is read without the environment of the process: os.environ is empty here; "
            "give the variable a default, os.environ.get(name, default)",
        )


environ = _Environ()


def getenv(key, default=None):
    return environ.get(key, default)


def fspath(p):
    if isinstance(p, (str, bytes)):
        return p
    method = getattr(type(p), "__fspath__", None)
    if method is None:
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(p).__name__}")
    return method(p)


def getcwd():
    return "/"


def cpu_count():
    return 1


def getpid():
    return 1


class PathLike(abc.ABC):
    @abc.abstractmethod
    def __fspath__(self):
        raise NotImplementedError

    @classmethod
    def __subclasshook__(cls, subclass):
        return (
            any("__fspath__" in c.__dict__ for c in subclass.__mro__) or NotImplemented
            if cls is PathLike
            else NotImplemented
        )

    @classmethod
    def __class_getitem__(cls, item):
        return cls


def urandom(n):
    _cobra.unsupported("os.urandom()")


def listdir(p="."):
    _cobra.unsupported("os.listdir()")


def makedirs(name, mode=0o777, exist_ok=False):
    _cobra.unsupported("os.makedirs()")


walk = scandir = listdir
mkdir = remove = unlink = rename = replace = rmdir = system = makedirs
