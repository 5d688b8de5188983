# Streams in memory. Files are refused where they are opened.
import _cobra

SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
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
    pass


class TextIOBase(IOBase):
    encoding = None
    errors = None
    newlines = None


class _Memory:
    _pos = 0

    def getvalue(self):
        self._check()
        return self._buffer

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

    def getbuffer(self):
        return memoryview(self._buffer)

    read1 = _Memory.read


class TextIOWrapper(TextIOBase):
    def __init__(self, *args, **kwargs):
        _cobra.unsupported("io.TextIOWrapper()")


class BufferedReader(BufferedIOBase):
    def __init__(self, *args, **kwargs):
        _cobra.unsupported("io.BufferedReader()")


class BufferedWriter(BufferedIOBase):
    def __init__(self, *args, **kwargs):
        _cobra.unsupported("io.BufferedWriter()")


class FileIO(RawIOBase):
    def __init__(self, *args, **kwargs):
        _cobra.unsupported("io.FileIO()")


def open(*args, **kwargs):
    _cobra.unsupported("io.open()")
