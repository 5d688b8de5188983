# Unpacking. Nothing is packed here.
import _cobra

MAX_WBITS, DEFLATED, DEF_MEM_LEVEL, DEF_BUF_SIZE = 15, 8, 8, 16384
ZLIB_VERSION = ZLIB_RUNTIME_VERSION = "1.2.13"
Z_NO_COMPRESSION, Z_BEST_SPEED, Z_BEST_COMPRESSION, Z_DEFAULT_COMPRESSION = 0, 1, 9, -1
Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED = range(5)
Z_NO_FLUSH, Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_FINISH, Z_BLOCK, Z_TREES = range(7)
_MOST = 1 << 62


class error(Exception):
    pass


error.__module__ = "zlib"


def _bytes(data):
    if isinstance(data, (str, int)):
        raise TypeError(f"a bytes-like object is required, not {type(data).__name__!r}")
    return data if type(data) is bytes else bytes(data)


def crc32(data, value=0, /):
    return _cobra.crc32(_bytes(data), value)


def adler32(data, value=1, /):
    return _cobra.adler32(_bytes(data), value)


def _failed(code, message):
    if code not in (0, 1, -5):  # it goes on, has ended, or wants more
        raise error(f"Error {code} while decompressing data" + (f": {message}" if message else ""))


def decompress(data, /, wbits=MAX_WBITS, bufsize=DEF_BUF_SIZE):
    out, size, _, code, message, _ = _cobra.inflate(_bytes(data), wbits, _MOST, _MOST)
    if code == -2:
        raise error("Error -2 while preparing to decompress data: inconsistent stream state")
    _failed(code, message)
    if code != 1:
        raise error("Error -5 while decompressing data: incomplete or truncated stream")
    return out


class _Decompressor:
    """All that has come in is unpacked again at each call: files are small here."""

    def __init__(self, wbits):
        self._wbits, self._data, self._given = wbits, b"", 0
        self.unused_data, self.unconsumed_tail, self.eof = b"", b"", False

    def decompress(self, data, /, max_length=0):
        if max_length:
            _cobra.unsupported("decompress() of zlib.decompressobj() with max_length")
        if self.eof:
            self.unused_data += _bytes(data)
            return b""
        self._data += _bytes(data)
        out, size, _, code, message, used = _cobra.inflate(self._data, self._wbits, _MOST, _MOST)
        _failed(code, message)
        self.eof = code == 1
        self.unused_data = self._data[used:] if self.eof else b""
        new, self._given = out[self._given :], size
        return new

    def flush(self, length=DEF_BUF_SIZE, /):
        return b""

    def copy(self):
        made = _Decompressor(self._wbits)
        made.__dict__.update(self.__dict__)
        return made


def decompressobj(wbits=MAX_WBITS, zdict=None):
    if zdict is not None:
        _cobra.unsupported("zlib.decompressobj() with a dictionary")
    return _Decompressor(wbits)
