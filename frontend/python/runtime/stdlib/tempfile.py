# Temporary files are in memory (_temporary).
import os

import _temporary

tempdir = None
template = "tmp"
TMP_MAX = 10000
_made = 0


def gettempdir():
    return _temporary.folder


def gettempdirb():
    return gettempdir().encode()


def gettempprefix():
    return template


def gettempprefixb():
    return template.encode()


def _new(suffix, prefix, dir):
    global _made
    while True:
        _made += 1
        name = f"{'tmp' if prefix is None else prefix}{_made:08}{suffix or ''}"
        path = os.path.join(gettempdir() if dir is None else dir, name)
        if not os.path.exists(path):
            return path


def mktemp(suffix="", prefix=template, dir=None):
    return _new(suffix, prefix, dir)


def mkdtemp(suffix=None, prefix=None, dir=None):
    path = _new(suffix, prefix, dir)
    os.mkdir(path, 0o700)
    return path


def mkstemp(suffix=None, prefix=None, dir=None, text=False):
    import _cobra

    _cobra.unsupported("tempfile.mkstemp(), whose result is the descriptor of a file")


class TemporaryDirectory:
    def __init__(self, suffix=None, prefix=None, dir=None, ignore_cleanup_errors=False):
        self.name = mkdtemp(suffix, prefix, dir)

    def __enter__(self):
        return self.name

    def __exit__(self, *exc):
        self.cleanup()

    def cleanup(self):
        for folder, _, names in list(os.walk(self.name, topdown=False)):
            for name in names:
                os.remove(os.path.join(folder, name))
            os.rmdir(folder)


class _TemporaryFileWrapper:
    def __init__(self, file, name, delete):
        self.file, self.name, self.delete = file, name, delete

    def __getattr__(self, name):
        return getattr(self.__dict__["file"], name)

    def __iter__(self):
        return iter(self.file)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        if not self.file.closed:
            self.file.close()
            if self.delete and os.path.exists(self.name):
                os.remove(self.name)


def NamedTemporaryFile(
    mode="w+b",
    buffering=-1,
    encoding=None,
    newline=None,
    suffix=None,
    prefix=None,
    dir=None,
    delete=True,
    *,
    errors=None,
):
    path = _new(suffix, prefix, dir)
    return _TemporaryFileWrapper(open(path, mode, buffering, encoding, errors, newline), path, delete)


TemporaryFile = NamedTemporaryFile


class SpooledTemporaryFile(_TemporaryFileWrapper):
    def __init__(self, max_size=0, mode="w+b", *args, **kwargs):
        made = NamedTemporaryFile(mode, *args, **kwargs)
        super().__init__(made.file, made.name, True)
