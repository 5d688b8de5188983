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


class DirEntry:
    def __init__(self, folder, name):
        self.name = name.rstrip("/")
        self.path = path.join(folder, self.name)
        self._is_dir = name.endswith("/")

    def is_dir(self, *, follow_symlinks=True):
        return self._is_dir

    def is_file(self, *, follow_symlinks=True):
        return not self._is_dir

    def is_symlink(self):
        return False

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<DirEntry {self.name!r}>"


class _Entries:
    def __init__(self, entries):
        self._entries = iter(entries)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def close(self):
        pass


# Of libraries; the user's own folders, and all others, are out of reach.
def scandir(p="."):
    names = _cobra.list_folder(fspath(p))
    if names is None:
        _cobra.unsupported("os.listdir()")
    return _Entries([DirEntry(p, name) for name in names])


def listdir(p="."):
    return [entry.name for entry in scandir(p)]


def walk(top, topdown=True, onerror=None, followlinks=False):
    entries = list(scandir(top))
    folders = [entry.name for entry in entries if entry.is_dir()]
    found = (top, folders, [entry.name for entry in entries if not entry.is_dir()])
    if topdown:
        yield found
    for name in folders:
        yield from walk(path.join(top, name), topdown)
    if not topdown:
        yield found


def makedirs(name, mode=0o777, exist_ok=False):
    _cobra.unsupported("os.makedirs()")


mkdir = remove = unlink = rename = replace = rmdir = system = makedirs
