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
        return cls("/")

    @classmethod
    def home(cls):
        return cls("/")

    def resolve(self, strict=False):
        return type(self)(os.path.abspath(str(self)))

    absolute = expanduser = resolve

    def exists(self):
        return os.path.exists(str(self))

    def is_file(self):
        return os.path.isfile(str(self))

    def is_dir(self):
        return os.path.isdir(str(self))

    def iterdir(self):
        return (self / name for name in os.listdir(str(self)))

    def open(self, *args, **kwargs):
        _cobra.unsupported("pathlib.Path.open()")

    read_text = read_bytes = write_text = write_bytes = mkdir = unlink = glob = rglob = stat = open


class PosixPath(Path, PurePosixPath):
    pass
