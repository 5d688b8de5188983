import _cobra
import _temporary
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
defpath = "/bin:/usr/bin"
supports_bytes_environ = True
SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
F_OK, X_OK, W_OK, R_OK = 0, 1, 2, 4
error = OSError


class _Environ(dict):
    def __missing__(self, key):
        raise _cobra.explained(
            KeyError(key),
            "a model is read without the environment of the process: os.environ is empty here; "
            "give the variable a default, os.environ.get(name, default)",
        )


environ, environb = _Environ(), _Environ()


def getenv(key, default=None):
    return environ.get(key, default)


def fspath(p):
    if isinstance(p, (str, bytes)):
        return p
    method = getattr(type(p), "__fspath__", None)
    if method is None:
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(p).__name__}")
    return method(p)


def fsencode(filename):
    filename = fspath(filename)
    return filename.encode("utf-8", "surrogateescape") if isinstance(filename, str) else filename


def fsdecode(filename):
    filename = fspath(filename)
    return filename.decode("utf-8", "surrogateescape") if isinstance(filename, bytes) else filename


# The folder of the model's own file, which is where a script is run as a rule.
def getcwd():
    return _cobra.work_folder


def getcwdb():
    return fsencode(getcwd())


EX_OK, EX_USAGE, EX_DATAERR, EX_NOINPUT, EX_SOFTWARE, EX_OSERR, EX_CONFIG = 0, 64, 65, 66, 70, 71, 78
O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NONBLOCK = 0, 1, 2, 64, 128, 512, 1024, 2048


def cpu_count():
    return 1


def getpid():
    return 1


def getuid():
    return 0


getgid = geteuid = getegid = getuid


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

    def stat(self, *, follow_symlinks=True):
        return stat(self.path)

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


def _refuse(p):
    _cobra.unsupported(
        f"looking at {fspath(p)!r}, which is not below the model's folder or a --library,",
        "a model may read the files below the folders that it may import from, and no others",
    )


def _names(p):
    names = _cobra.list_folder(fsdecode(p))
    if names is None:
        names = _temporary.names(fsdecode(p))
    if names is None:
        kind = _temporary.kind(fsdecode(p))
        if kind is None:
            _refuse(p)
        if kind:
            raise NotADirectoryError(20, "Not a directory", p)
        raise FileNotFoundError(2, "No such file or directory", p)
    return names


def scandir(p="."):
    return _Entries([DirEntry(fspath(p), name) for name in _names(p)])


def listdir(p="."):
    return [name.rstrip("/") for name in _names(p)]


class stat_result:
    def __init__(self, mode, size):
        self.st_mode = mode
        self.st_size = size
        # No file changes while a program is read. When one was made, is no matter of the network.
        self.st_mtime = self.st_atime = self.st_ctime = 0.0
        self.st_mtime_ns = self.st_atime_ns = self.st_ctime_ns = 0
        self.st_uid = self.st_gid = 0

    def __getattr__(self, name):
        if not name.startswith("st_"):
            raise AttributeError(f"'os.stat_result' object has no attribute '{name}'")
        _cobra.unsupported(f"os.stat().{name}")

    def __getitem__(self, index):
        return (self.st_mode, 0, 0, 1, 0, 0, self.st_size)[index]


def stat(p, *, dir_fd=None, follow_symlinks=True):
    kind = _temporary.kind(fsdecode(p))
    if kind is None or kind == "refused":
        _refuse(p)
    if not kind or kind == "unread":
        raise FileNotFoundError(2, "No such file or directory", p)
    if kind == "folder":
        return stat_result(0o40755, 4096)
    at = _temporary.place(fsdecode(p))
    return stat_result(0o100644, len(_cobra.read_data(fsdecode(p)) if at is None else _temporary.files[at]))


lstat = stat


def access(p, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
    return path.exists(p) and not mode & W_OK


def walk(top, topdown=True, onerror=None, followlinks=False):
    try:
        entries = list(scandir(top))
    except OSError as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [entry.name for entry in entries if entry.is_dir()]
    found = (top, folders, [entry.name for entry in entries if not entry.is_dir()])
    if topdown:
        yield found
    for name in folders:
        yield from walk(path.join(top, name), topdown)
    if not topdown:
        yield found


def _not_written(name, what, hint=""):
    # Nothing is written. Who is prepared for files that may not be written goes on without.
    if _temporary.is_guarded():
        raise OSError(30, "Read-only file system", fspath(name))
    _cobra.unsupported(what, hint)


def makedirs(name, mode=0o777, exist_ok=False):
    if exist_ok and path.isdir(name):
        return
    if _temporary.place(fsdecode(name)) is None:
        _not_written(name, "os.makedirs()")
    _temporary.make_folder(fsdecode(name), True, exist_ok)


def mkdir(path, mode=0o777, *, dir_fd=None):
    if _temporary.place(fsdecode(path)) is None:
        _not_written(path, "os.mkdir()")
    _temporary.make_folder(fsdecode(path))


def remove(path, *, dir_fd=None):
    if _temporary.place(fsdecode(path)) is None:
        _not_written(path, "os.remove()")
    _temporary.remove(fsdecode(path))


def rename(src, dst, *, src_dir_fd=None, dst_dir_fd=None):
    if _temporary.place(fsdecode(src)) is None or _temporary.place(fsdecode(dst)) is None:
        _not_written(src, "os.rename()")
    _temporary.rename(fsdecode(src), fsdecode(dst))


def rmdir(path, *, dir_fd=None):
    if _temporary.place(fsdecode(path)) is None:
        _not_written(path, "os.rmdir()")
    _temporary.remove(fsdecode(path), True)


unlink, replace = remove, rename


def system(command):
    _cobra.unsupported("os.system()")


def get_exec_path(env=None):
    return ["/bin", "/usr/bin"]


def register_at_fork(*, before=None, after_in_child=None, after_in_parent=None):
    pass
