# numpy.load of small files beside the code (.npy, .npz).
import ast
import math
import os
import re
import zipfile
from collections.abc import Mapping

import _cobra
import numpy as np
import torch

_MAGIC = b"\x93NUMPY"
_MOST = 1 << 16  # items of an array whose numbers are read; those of larger ones stay unknown
_KEPT = (1 << 16) + 16 * _MOST  # bytes of a packed array that are looked at
_LETTERS = {
    "?": "b1", "b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "q": "i8", "Q": "u8",
    "e": "f2", "f": "f4", "d": "f8", "F": "c8", "D": "c16",
}  # fmt: skip
_NAMES = {"b1": "bool", "c8": "complex64", "c16": "complex128"}
_MODES = ("r", "c", "r+", "w+", "readonly", "copyonwrite", "readwrite", "write")


class _Unread(np.ndarray):
    """An array of text or of records. It may be there; nothing but its shape can be asked of it."""

    def __init__(self, kind, shape):
        self._kind, self._shape = kind, shape

    @property
    def _t(self):
        torch._unsupported("numpy.load of arrays of %r" % (self._kind,))

    shape = property(lambda self: self._shape)
    ndim = property(lambda self: len(self._shape))
    size = property(lambda self: math.prod(self._shape))

    def __len__(self):
        if not self._shape:
            raise TypeError("len() of unsized object")
        return self._shape[0]

    def __repr__(self):
        return "array(..., shape=%s)" % (self._shape,)


def _asked(self, *args):
    return self._t


for _name in "eq ne lt le gt ge getitem setitem contains iter bool int float index abs neg pos invert array".split():
    setattr(_Unread, f"__{_name}__", _asked)
for _name in "add sub mul truediv floordiv mod pow matmul and or xor".split():
    for _kind in ("", "r", "i"):
        setattr(_Unread, f"__{_kind}{_name}__", _asked)


class _Foreign(_Unread):
    """An array whose bytes are in the other order, which torch does not take."""

    def __init__(self, kind, native):
        _Unread.__init__(self, kind, native.shape)
        self._native = native

    def astype(self, dtype, *args, **kwargs):
        return self._native.astype(dtype)

    def tolist(self):
        return self._native.tolist()

    def item(self, *args):
        return self._native.item(*args)


class _Kind:
    """What the header says of the items: `name` is numpy's if they can be read, `size` in bytes
    (None: not known)."""

    def __init__(self, descr):
        self.descr, self.name, self.size, self.big, self.has_objects = descr, None, None, False, False
        if isinstance(descr, (list, tuple)):
            parts = [_Kind(f[1]) for f in descr] if isinstance(descr, list) else [_Kind(descr[0])]
            counts = [self._count(f) for f in descr] if isinstance(descr, list) else [math.prod(descr[1])]
            self.has_objects = any(p.has_objects for p in parts)
            if all(p.size is not None for p in parts):
                self.size = sum(p.size * n for p, n in zip(parts, counts))
            return
        self.big, code = descr[:1] == ">", descr[descr[:1] in ("<", ">", "=", "|") :]
        code = _LETTERS.get(code, code)
        known = re.fullmatch(r"([biufcSUVaMmO])(\d*)(\[.*\])?", code)
        if known is None:
            dtype = np.dtype(code)  # a TypeError if there is none
            self.name, self.size = dtype.name, dtype.itemsize
            return
        letter, digits, _ = known.groups()
        self.has_objects = letter == "O"
        self.size = 8 if letter in "Mm" else None if letter == "O" else int(digits or 0) * (4 if letter == "U" else 1)
        if letter in "biufc":
            if code not in ("f16", "c32"):
                self.name = np.dtype(_NAMES.get(code, code)).name
            self.big = self.big and self.size > 1

    @staticmethod
    def _count(field):
        shape = field[2] if len(field) > 2 else ()
        return shape if isinstance(shape, int) else math.prod(shape)


def _part(data, at, size, what):
    part = data[at : at + size]
    if len(part) != size:
        raise ValueError("EOF: reading %s, expected %d bytes got %d" % (what, size, len(part)))
    return part


def _header(data, max_header_size):
    """(shape, whether the first index varies fastest, what the items are, where they begin)"""
    version = tuple(_part(data, 0, 8, "magic string")[6:])
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError("we only support format version (1,0), (2,0), and (3,0), not %s" % (version,))
    wide = 2 if version == (1, 0) else 4
    size = int.from_bytes(_part(data, 8, wide, "array header length"), "little")
    text = _part(data, 8 + wide, size, "array header").decode("utf8" if version == (3, 0) else "latin1")
    if size > max_header_size:
        raise ValueError(
            f"Header info length ({size}) is large and may not be safe to load securely.\n"
            "To allow loading, adjust `max_header_size` or fully trust the `.npy` file using `allow_pickle=True`."
        )
    try:
        header = ast.literal_eval(text.strip())
    except SyntaxError as error:
        try:
            if version == (3, 0):
                raise error
            header = ast.literal_eval(re.sub(r"(?<=\d)L", "", text.strip()))  # of Python 2
        except SyntaxError:
            raise ValueError("Cannot parse header: {!r}".format(text)) from error
    if not isinstance(header, dict):
        raise ValueError("Header is not a dictionary: {!r}".format(header))
    if header.keys() != {"descr", "fortran_order", "shape"}:
        raise ValueError("Header does not contain the correct keys: {!r}".format(sorted(header.keys())))
    shape, order = header["shape"], header["fortran_order"]
    if not isinstance(shape, tuple) or not all(isinstance(n, int) for n in shape):
        raise ValueError("shape is not valid: {!r}".format(shape))
    if not isinstance(order, bool):
        raise ValueError("fortran_order is not a valid bool: {!r}".format(order))
    try:
        kind = _Kind(header["descr"])
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise ValueError("descr is not a valid dtype descriptor: {!r}".format(header["descr"])) from error
    return tuple(int(n) for n in shape), order, kind, 8 + wide + size


def _array(data, length, allow_pickle, max_header_size):
    """(The array of a .npy file of `length` bytes, of which `data` has as many as are needed; how
    many it takes)"""
    shape, fortran, kind, at = _header(data, 1 << 64 if allow_pickle else max_header_size)
    if kind.has_objects:
        if not allow_pickle:
            raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
        torch._unsupported("numpy.load of arrays of Python objects (%r)" % (kind.descr,))
    count = math.prod(shape)
    if any(n < 0 for n in shape) or kind.size is not None and kind.size * count > length - at:
        there = (length - at) // kind.size if kind.size else 0
        raise ValueError(
            f"Failed to read all data for array. Expected {shape} = {count} elements, could only read {there} elements. "
            "(file seems not fully written?)"
        )
    end = length if kind.size is None else at + kind.size * count
    if kind.name is None:
        return _Unread(kind.descr, shape), end
    dtype = np.dtype(kind.name)
    if count > _MOST:
        made = np.empty(shape, dtype=dtype)
    else:
        made = np.array(_cobra.numbers(data, at, count, dtype.kind, kind.size, kind.big), dtype=dtype)
        made = made.reshape(tuple(reversed(shape))).transpose() if fortran else made.reshape(shape)
    return _Foreign(kind.descr, made) if kind.big else made, end


class _Bag:
    def __init__(self, archive):
        self._obj = archive

    def __getattribute__(self, key):
        try:
            return object.__getattribute__(self, "_obj")[key]
        except KeyError:
            raise AttributeError(key) from None

    def __dir__(self):
        return list(object.__getattribute__(self, "_obj").keys())


class NpzFile(Mapping):
    zip = fid = None

    def __init__(self, fid, own_fid=False, allow_pickle=False, pickle_kwargs=None, *, max_header_size=10000):
        self.zip = zipfile.ZipFile(fid)
        names = self.zip.namelist()
        self.files = [name.removesuffix(".npy") for name in names]
        self._files = {**dict(zip(self.files, names)), **dict(zip(names, names))}
        self.allow_pickle, self.max_header_size, self.pickle_kwargs = allow_pickle, max_header_size, pickle_kwargs
        self.f = _Bag(self)
        if own_fid:
            self.fid = fid

    def close(self):
        for opened in (self.zip, self.fid):
            if opened is not None:
                opened.close()
        self.zip = self.fid = self.f = None

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __contains__(self, key):
        return key in self._files

    def __getitem__(self, key):
        if key not in self._files:
            raise KeyError(f"{key} is not a file in the archive")
        data, length = self.zip._content(self._files[key], _KEPT)
        if data[: len(_MAGIC)] == _MAGIC:
            return _array(data, length, self.allow_pickle, self.max_header_size)[0]
        return data if len(data) == length else self.zip.read(self._files[key])

    def __repr__(self):
        name = getattr(self.fid, "name", "object")
        return f"NpzFile {name!r} with keys: {', '.join(self.files[:5])}" + "..." * (len(self.files) > 5)


NpzFile.__module__ = "numpy.lib.npyio"


def _check_mapped(file, mode):
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {list(_MODES)!r} (got {mode!r})")
    if hasattr(file, "read"):
        raise ValueError("Filename must be a string or a path-like object.  Existing file handles cannot be used.")
    if mode not in ("r", "readonly", "c", "copyonwrite"):
        torch._unsupported("numpy.load(mmap_mode=%r), which writes into the file" % mode)


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000):
    if encoding not in ("ASCII", "latin1", "bytes"):
        raise ValueError("encoding must be 'ASCII', 'latin1', or 'bytes'")
    own = not hasattr(file, "read")
    opened = open(os.fspath(file), "rb") if own else file
    begin = opened.tell()
    data = opened.read()
    if not data:
        raise EOFError("No data left in file")
    if data[:4] in (b"PK\x03\x04", b"PK\x05\x06"):
        return NpzFile(opened, own, allow_pickle, max_header_size=max_header_size)
    if data[: len(_MAGIC)] == _MAGIC:
        if mmap_mode:
            _check_mapped(file, mmap_mode)
        made, end = _array(data, len(data), allow_pickle, max_header_size)
        opened.seek(begin + end)
        return made
    opened.seek(begin)
    if not allow_pickle:
        raise ValueError("Cannot load file containing pickled data when allow_pickle=False")
    torch._unsupported("numpy.load of a pickle")
