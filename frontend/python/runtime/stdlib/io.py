# Streams in memory. A file is read whole when it is opened, and none is written.
import os

import _cobra
import _temporary

from os import SEEK_CUR, SEEK_END, SEEK_SET

BlockingIOError = BlockingIOError
DEFAULT_BUFFER_SIZE = 8192


class UnsupportedOperation(OSError, ValueError):
    pass


class IOBase:
    closed = False

    def close(self):
        self.closed = True

    def flush(self):
        pass

    def isatty(self):
        return False

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def readline(self, size=-1):
        raise UnsupportedOperation("readline")

    def seek(self, offset, whence=0):
        raise UnsupportedOperation("seek")

    def tell(self):
        return self.seek(0, 1)

    def truncate(self, size=None):
        raise UnsupportedOperation("truncate")

    def fileno(self):
        raise UnsupportedOperation("fileno")

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *exc):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readlines(self, hint=-1):
        return list(self)

    def writelines(self, lines):
        for line in lines:
            self.write(line)


class RawIOBase(IOBase):
    pass


class BufferedIOBase(IOBase):
    def read(self, size=-1):
        raise UnsupportedOperation("read")

    def write(self, b):
        raise UnsupportedOperation("write")

    def detach(self):
        raise UnsupportedOperation("detach")


class TextIOBase(IOBase):
    encoding = None
    errors = None
    newlines = None
    line_buffering = False

    def read(self, size=-1):
        raise UnsupportedOperation("read")

    def write(self, s):
        raise UnsupportedOperation("write")

    def detach(self):
        raise UnsupportedOperation("detach")


class _Memory:
    _pos = 0

    def read(self, size=-1):
        self._check()
        end = len(self._buffer) if size is None or size < 0 else self._pos + size
        data = self._buffer[self._pos : end]
        self._pos += len(data)
        return data

    def readline(self, size=-1):
        self._check()
        i = self._buffer.find(self._newline, self._pos)
        end = len(self._buffer) if i < 0 else i + 1
        if size is not None and size >= 0:
            end = min(end, self._pos + size)
        data = self._buffer[self._pos : end]
        self._pos += len(data)
        return data

    def seek(self, pos, whence=0):
        self._check()
        self._pos = max(0, pos + (0, self._pos, len(self._buffer))[whence])
        return self._pos

    def tell(self):
        self._check()
        return self._pos

    def truncate(self, size=None):
        self._check()
        size = self._pos if size is None else size
        self._buffer = self._buffer[:size]
        return size

    def _put(self, data):
        b = self._buffer
        if self._pos == len(b):
            self._buffer = b + data
        else:
            self._buffer = b[: self._pos] + self._zero * max(0, self._pos - len(b)) + data + b[self._pos + len(data) :]
        self._pos += len(data)
        return len(data)


class StringIO(_Memory, TextIOBase):
    _newline = "\n"
    _zero = "\0"

    def __init__(self, initial_value="", newline="\n"):
        self._buffer = "" if initial_value is None else initial_value
        self._pos = 0

    def getvalue(self):
        self._check()
        return self._buffer

    def write(self, s):
        self._check()
        if not isinstance(s, str):
            raise TypeError(f"string argument expected, got {type(s).__name__!r}")
        return self._put(s)


class BytesIO(_Memory, BufferedIOBase):
    _newline = b"\n"
    _zero = b"\0"

    def __init__(self, initial_bytes=b""):
        self._buffer = bytes(initial_bytes or b"")
        self._pos = 0

    def write(self, b):
        self._check()
        return self._put(bytes(b))

    def getvalue(self):
        self._check()
        return self._buffer

    def getbuffer(self):
        return memoryview(self._buffer)

    def readinto(self, b):
        data = self.read(len(b))
        b[: len(data)] = data
        return len(data)

    read1 = _Memory.read
    readinto1 = readinto


def _translated(text, newline):
    if newline not in (None, "", "\n", "\r", "\r\n"):
        raise ValueError(f"illegal newline value: {newline!r}")
    return text.replace("\r\n", "\n").replace("\r", "\n") if newline is None else text


class _ReadOnly:
    mode = "r"

    def writable(self):
        return False

    def write(self, data):
        _cobra.unsupported("writing into a file")

    truncate = detach = write

    def fileno(self):
        _cobra.unsupported("the descriptor of a file")


class BufferedReader(_ReadOnly, _Memory, BufferedIOBase):
    _newline = b"\n"
    _zero = b"\0"
    mode = "rb"

    def __init__(self, raw, buffer_size=DEFAULT_BUFFER_SIZE):
        self.raw = raw
        self.name = getattr(raw, "name", None)
        self._buffer = raw.read()
        self._pos = 0

    def peek(self, size=0):
        return self._buffer[self._pos :]

    def readinto(self, b):
        data = self.read(len(b))
        b[: len(data)] = data
        return len(data)

    def readall(self):
        return self.read()

    read1 = _Memory.read


class FileIO(BufferedReader, RawIOBase):
    def __init__(self, file, mode="r", closefd=True, opener=None):
        self._buffer, self.name = _contents(file, mode if "b" in mode else mode + "b"), file
        self._pos = 0


class TextIOWrapper(_ReadOnly, _Memory, TextIOBase):
    _newline = "\n"
    _zero = "\0"

    def __init__(self, buffer, encoding=None, errors=None, newline=None, line_buffering=False, write_through=False):
        self.buffer = buffer
        self.name = getattr(buffer, "name", None)
        self.encoding = "UTF-8" if encoding in (None, "locale") else encoding
        self.errors = errors or "strict"
        self._buffer = _translated(buffer.read().decode(self.encoding, self.errors), newline)
        self._pos = 0

    def close(self):
        self.buffer.close()
        self.closed = True


class BufferedWriter(BufferedIOBase):
    def __init__(self, *args, **kwargs):
        _cobra.unsupported("io.BufferedWriter()")


_HINT = (
    "a model may read the files below the folders that it may import from, and no others: "
    "give a folder above it as the model (REPO --entry 'pkg.net.Net()'); none is written"
)


def _contents(file, mode):
    if set(mode) - set("rwxabt+U") or len(mode) > len(set(mode)):
        raise ValueError(f"invalid mode: {mode!r}")
    if sum(c in mode for c in "rwxa") != 1 or "t" in mode and "b" in mode:
        raise ValueError("must have exactly one of create/read/write/append mode")
    if isinstance(file, int):
        _cobra.unsupported("opening a file by its descriptor", _HINT)
    path = os.fspath(file)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    shown = repr(path)
    kind = _temporary.kind(path)
    at = _temporary.place(path)
    if at is not None:
        return _temporary_contents(at, path, kind, mode)
    if set(mode) & set("wxa+"):
        os._not_written(path, f"writing the file {shown}", _HINT)
    if kind is None:
        _cobra.unsupported(f"reading the file {shown}, which is not below the model's folder or a --library,", _HINT)
    if kind == "refused":
        _cobra.unsupported(f"reading {shown}, which is private, no regular file, or a link that leads out,", _HINT)
    if kind == "unread":
        _cobra.unsupported(f"reading {shown}, a file of weights or of compiled code,")
    if kind == "folder":
        raise IsADirectoryError(21, "Is a directory", path)
    data = _cobra.read_data(path) if kind else None
    if data is None:
        error = FileNotFoundError(2, "No such file or directory", path)
        if _cobra.is_unsent(path):
            _cobra.explained(error, "it is not among the files that were sent: send it, or the graph (--send graph)")
        elif not path.startswith("/"):
            _cobra.explained(error, "the path is relative, here to the folder of the model's own file")
        raise error
    return data


def _temporary_contents(at, path, kind, mode):
    if kind == "folder":
        raise IsADirectoryError(21, "Is a directory", path)
    if "x" in mode and kind:
        raise FileExistsError(17, "File exists", path)
    if not kind and "r" in mode:
        raise FileNotFoundError(2, "No such file or directory", path)
    _temporary.check_parent(at, path)
    if "w" in mode or not kind:
        _temporary.files[at] = b""
    return _temporary.files[at]


class _Written:
    """A file below the folder for temporary ones, which others see when it is flushed or closed."""

    def __init__(self, file, mode, encoding="utf-8", errors="strict"):
        path = os.fspath(file)
        self.name, self.mode, self._at = file, mode, _temporary.place(os.fsdecode(path))
        self._encoding, self._errors = encoding, errors
        data = _temporary.files[self._at]
        super().__init__(data if "b" in mode else data.decode(encoding, errors))
        if "a" in mode:
            self.seek(0, 2)

    def readable(self):
        return "+" in self.mode

    def _data(self):
        return self._buffer if "b" in self.mode else self._buffer.encode(self._encoding, self._errors)

    def flush(self):
        if self._at in _temporary.files:
            _temporary.files[self._at] = bytes(self._data())

    def close(self):
        if not self.closed:
            self.flush()
        self.closed = True

    def fileno(self):
        _cobra.unsupported("the descriptor of a file")


class _WrittenBytes(_Written, BytesIO):
    pass


class _WrittenText(_Written, StringIO):
    pass


def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    data = _contents(file, mode)
    if "b" in mode and encoding is not None:
        raise ValueError("binary mode doesn't take an encoding argument")
    if set(mode) & set("wxa+"):  # below the folder for temporary files
        if "b" in mode:
            return _WrittenBytes(file, mode)
        return _WrittenText(file, mode, "utf-8" if encoding in (None, "locale") else encoding, errors or "strict")
    raw = BytesIO(data)
    raw.name = file
    reader = BufferedReader(raw)
    return reader if "b" in mode else TextIOWrapper(reader, encoding, errors, newline)


def open_code(path):
    return open(path, "rb")


def text_encoding(encoding, stacklevel=2):
    return "locale" if encoding is None else encoding
