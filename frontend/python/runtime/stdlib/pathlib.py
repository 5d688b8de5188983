import _cobra
import os


class PurePath:
    def __init__(self, *parts):
        self._path = os.path.join(*[str(p) for p in parts]) if parts else '.'
        if len(self._path) > 1:
            self._path = self._path.rstrip('/') or '/'

    def __truediv__(self, other):
        return type(self)(self._path, other) if self._path != '.' else type(self)(other)

    def __rtruediv__(self, other):
        return type(self)(other, self._path)

    def joinpath(self, *others):
        return type(self)(self._path, *others)

    def __str__(self):
        return self._path

    __fspath__ = __str__

    def __repr__(self):
        return f'{type(self).__name__}({self._path!r})'

    def as_posix(self):
        return self._path

    @property
    def name(self):
        return os.path.basename(self._path)

    @property
    def parent(self):
        return type(self)(os.path.dirname(self._path) or '.')

    @property
    def parents(self):
        found, p = [], self
        while p.parent != p:
            p = p.parent
            found.append(p)
        return found

    @property
    def stem(self):
        return os.path.splitext(self.name)[0]

    @property
    def suffix(self):
        return os.path.splitext(self.name)[1]

    @property
    def parts(self):
        parts = [p for p in self._path.split('/') if p]
        return tuple((['/'] if self._path.startswith('/') else []) + parts)

    def with_name(self, name):
        return self.parent / name

    def with_suffix(self, suffix):
        return self.parent / (self.stem + suffix)

    def is_absolute(self):
        return self._path.startswith('/')

    def __eq__(self, other):
        return self._path == other._path if isinstance(other, PurePath) else NotImplemented

    def __lt__(self, other):
        return self._path < other._path

    def __hash__(self):
        return hash(self._path)


class Path(PurePath):
    @classmethod
    def cwd(cls):
        return cls('/')

    @classmethod
    def home(cls):
        return cls('/')

    def resolve(self, strict=False):
        return type(self)(os.path.abspath(self._path))

    absolute = expanduser = resolve

    def exists(self):
        return False

    is_file = is_dir = exists

    def open(self, *args, **kwargs):
        _cobra.unsupported('pathlib.Path.open()')

    read_text = read_bytes = write_text = write_bytes = mkdir = unlink = iterdir = glob = rglob = stat = open


PosixPath = Path
PurePosixPath = PurePath
