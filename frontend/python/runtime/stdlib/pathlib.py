import _cobra
import os


def _parse(parts):
    """The root ('', '/' or '//') and the names of what the parts mean together."""
    path = ""
    for p in parts:
        if isinstance(p, PurePath):
            p = str(p)
        else:
            p = os.fspath(p)
            if not isinstance(p, str):
                raise TypeError(
                    f"argument should be a str or an os.PathLike object where __fspath__ returns a str, not {type(p).__name__!r}"
                )
        path = p if p.startswith("/") or not path else path + p if path.endswith("/") else path + "/" + p
    root = "//" if path.startswith("//") and not path.startswith("///") else "/" if path.startswith("/") else ""
    return root, [name for name in path.split("/") if name and name != "."]


class PurePath:
    def __new__(cls, *args, **kwargs):
        if cls is PurePath:
            cls = PurePosixPath
        self = object.__new__(cls)
        self._root, self._names = _parse(args)
        return self

    def _made(self, names, root=None):
        made = object.__new__(type(self))
        made._root = self._root if root is None else root
        made._names = names
        return made

    def __reduce__(self):
        return type(self), self.parts

    def __truediv__(self, other):
        try:
            return type(self)(self, other)
        except TypeError:
            return NotImplemented

    def __rtruediv__(self, other):
        try:
            return type(self)(other, self)
        except TypeError:
            return NotImplemented

    def joinpath(self, *others):
        return type(self)(self, *others)

    def __str__(self):
        return self._root + "/".join(self._names) or "."

    def __fspath__(self):
        return str(self)

    def as_posix(self):
        return str(self)

    def __repr__(self):
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def root(self):
        return self._root

    anchor = root
    drive = ""

    @property
    def name(self):
        return self._names[-1] if self._names else ""

    @property
    def parent(self):
        return self._made(self._names[:-1]) if self._names else self

    @property
    def parents(self):
        return tuple(self._made(self._names[:n]) for n in reversed(range(len(self._names))))

    @property
    def suffix(self):
        name = self.name
        i = name.rfind(".")
        return name[i:] if 0 < i < len(name) - 1 else ""

    @property
    def suffixes(self):
        name = self.name
        return [] if name.endswith(".") else ["." + s for s in name.lstrip(".").split(".")[1:]]

    @property
    def stem(self):
        name = self.name
        return name[: len(name) - len(self.suffix)]

    @property
    def parts(self):
        return tuple(([self._root] if self._root else []) + self._names)

    def with_name(self, name):
        if not self.name:
            raise ValueError(f"{self!r} has an empty name")
        if not name or "/" in name or name == ".":
            raise ValueError(f"Invalid name {name!r}")
        return self._made(self._names[:-1] + [name])

    def with_stem(self, stem):
        return self.with_name(stem + self.suffix)

    def with_suffix(self, suffix):
        if "/" in suffix or suffix and not suffix.startswith(".") or suffix == ".":
            raise ValueError(f"Invalid suffix {suffix!r}")
        if not self.name:
            raise ValueError(f"{self!r} has an empty name")
        return self._made(self._names[:-1] + [self.stem + suffix])

    def is_absolute(self):
        return bool(self._root)

    def is_relative_to(self, *other):
        try:
            self.relative_to(*other)
            return True
        except ValueError:
            return False

    def relative_to(self, *other):
        if not other:
            raise TypeError("need at least one argument")
        base = type(self)(*other)
        n = len(base._names)
        if base._root != self._root or base._names != self._names[:n]:
            raise ValueError(
                f"{str(self)!r} is not in the subpath of {str(base)!r} OR one path is relative and the other is absolute."
            )
        return self._made(self._names[n:], "")

    def match(self, pattern):
        import fnmatch

        root, names = _parse([pattern])
        if not root and not names:
            raise ValueError("empty pattern")
        own = self._names
        if root and (root != self._root or len(names) != len(own)) or len(names) > len(own):
            return False
        return all(fnmatch.fnmatchcase(a, b) for a, b in zip(reversed(own), reversed(names)))

    def __eq__(self, other):
        if not isinstance(other, PurePath):
            return NotImplemented
        return self._root == other._root and self._names == other._names

    def __lt__(self, other):
        return self.parts < other.parts if isinstance(other, PurePath) else NotImplemented

    def __le__(self, other):
        return self.parts <= other.parts if isinstance(other, PurePath) else NotImplemented

    def __gt__(self, other):
        return self.parts > other.parts if isinstance(other, PurePath) else NotImplemented

    def __ge__(self, other):
        return self.parts >= other.parts if isinstance(other, PurePath) else NotImplemented

    def __hash__(self):
        return hash((self._root, tuple(self._names)))


class PurePosixPath(PurePath):
    pass


class Path(PurePath):
    def __new__(cls, *args, **kwargs):
        return super().__new__(PosixPath if cls is Path else cls, *args, **kwargs)

    @classmethod
    def cwd(cls):
        return cls(os.getcwd())

    @classmethod
    def home(cls):
        return cls("/")

    def resolve(self, strict=False):
        return type(self)(os.path.abspath(str(self)))

    def absolute(self):
        return self if self.is_absolute() else type(self)(os.getcwd(), self)

    def expanduser(self):
        return self

    def exists(self):
        return os.path.exists(str(self))

    def is_file(self):
        return os.path.isfile(str(self))

    def is_dir(self):
        return os.path.isdir(str(self))

    def is_symlink(self):
        return False

    is_mount = is_socket = is_fifo = is_block_device = is_char_device = is_symlink

    def samefile(self, other_path):
        return os.path.samefile(str(self), os.fspath(other_path))

    def stat(self, *, follow_symlinks=True):
        return os.stat(str(self))

    lstat = stat

    def iterdir(self):
        return (self / name for name in os.listdir(str(self)))

    def open(self, mode="r", buffering=-1, encoding=None, errors=None, newline=None):
        import io

        return io.open(self, mode, buffering, encoding, errors, newline)

    def read_text(self, encoding=None, errors=None):
        with self.open("r", -1, encoding, errors) as f:
            return f.read()

    def read_bytes(self):
        with self.open("rb") as f:
            return f.read()

    def glob(self, pattern):
        root, names = _parse([pattern])
        if root:
            raise NotImplementedError("Non-relative patterns are unsupported")
        if not names:
            raise ValueError(f"Unacceptable pattern: {pattern!r}")
        return iter(_matches(self, names))

    def rglob(self, pattern):
        return self.glob("**/" + str(pattern))

    def touch(self, *args, **kwargs):
        os._not_written(self, "writing files with pathlib.Path")

    def mkdir(self, mode=0o777, parents=False, exist_ok=False):
        if exist_ok and self.is_dir():
            return
        if parents:
            os.makedirs(str(self), mode, exist_ok)
        else:
            os.mkdir(str(self), mode)

    def write_bytes(self, data):
        with self.open("wb") as f:
            return f.write(data)

    def write_text(self, data, encoding=None, errors=None, newline=None):
        with self.open("w", -1, encoding, errors, newline) as f:
            return f.write(data)

    def unlink(self, missing_ok=False):
        if not missing_ok or self.exists():
            os.unlink(str(self))

    def rmdir(self):
        os.rmdir(str(self))

    def rename(self, target):
        os.rename(str(self), os.fspath(target))
        return type(self)(target)

    replace = rename

    symlink_to = hardlink_to = chmod = lchmod = link_to = touch

    def owner(self):
        _cobra.unsupported("the owner of a file")

    group = readlink = owner


def _names(path):
    names = _cobra.list_folder(str(path))
    return (os._temporary.names(str(path)) if names is None else names) or ()


def _folders(path):
    found = [path]
    for name in _names(path):
        if name.endswith("/"):
            found += _folders(path / name)
    return found


def _matches(path, names):
    if not names:
        return [path]
    if names[0] == "**":
        found = {}
        for folder in _folders(path) if path.is_dir() else ():
            found.update(dict.fromkeys(_matches(folder, names[1:])))
        return list(found)
    import fnmatch

    found = []
    if not any(c in names[0] for c in "*?["):
        return _matches(path / names[0], names[1:]) if (path / names[0]).exists() else []
    for name in _names(path):
        if fnmatch.fnmatchcase(name.rstrip("/"), names[0]) and (name.endswith("/") or len(names) == 1):
            found += _matches(path / name, names[1:])
    return found


class PosixPath(Path, PurePosixPath):
    pass


class PureWindowsPath(PurePath):
    def __new__(cls, *args, **kwargs):
        _cobra.unsupported("pathlib.PureWindowsPath()")


class WindowsPath(Path, PureWindowsPath):
    def __new__(cls, *args, **kwargs):
        raise NotImplementedError("cannot instantiate 'WindowsPath' on your system")
