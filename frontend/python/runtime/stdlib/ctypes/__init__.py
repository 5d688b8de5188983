# The sizes of C's types, which some libraries ask for. There is no code in C to call.
import _cobra


class _Simple:
    _size = 8

    def __init__(self, value=0):
        self.value = value


def _simple(name, size):
    return type(name, (_Simple,), {"_size": size, "__module__": "ctypes"})


c_bool, c_char, c_byte, c_ubyte = [_simple(n, 1) for n in ("c_bool", "c_char", "c_byte", "c_ubyte")]
c_int8, c_uint8 = c_byte, c_ubyte
c_short, c_ushort = [_simple(n, 2) for n in ("c_short", "c_ushort")]
c_int16, c_uint16 = c_short, c_ushort
c_int, c_uint, c_float, c_wchar = [_simple(n, 4) for n in ("c_int", "c_uint", "c_float", "c_wchar")]
c_int32, c_uint32 = c_int, c_uint
c_long, c_ulong, c_double, c_void_p = [_simple(n, 8) for n in ("c_long", "c_ulong", "c_double", "c_void_p")]
c_int64 = c_longlong = c_ssize_t = c_long
c_uint64 = c_ulonglong = c_size_t = c_ulong


def sizeof(type):
    if isinstance(type, _Simple):
        type = type.__class__
    if not (isinstance(type, _Simple.__class__) and issubclass(type, _Simple)):
        _cobra.unsupported("ctypes.sizeof() of %r" % type)
    return type._size
