# Reading ZIP files, which are read whole when they are opened. None is written.
import io
import os
import zlib

import _cobra

ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA = 0, 8, 12, 14
ZIP64_LIMIT, ZIP_FILECOUNT_LIMIT, ZIP_MAX_COMMENT = (1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1
_END, _END64, _LOCATOR64, _ENTRY, _HEADER = b"PK\5\6", b"PK\6\6", b"PK\6\7", b"PK\1\2", b"PK\3\4"


class BadZipFile(Exception):
    pass


class LargeZipFile(Exception):
    pass


error = BadZipfile = BadZipFile


def _number(data, at, size):
    return int.from_bytes(data[at : at + size], "little")


class ZipInfo:
    compress_type, comment, extra, create_system, create_version, extract_version = ZIP_STORED, b"", b"", 3, 20, 20
    reserved = flag_bits = volume = internal_attr = external_attr = header_offset = CRC = compress_size = file_size = 0

    def __init__(self, filename="NoName", date_time=(1980, 1, 1, 0, 0, 0)):
        self.orig_filename = filename
        self.filename = filename.split("\0")[0]
        self.date_time = date_time

    def is_dir(self):
        return self.filename[-1:] == "/"

    def __repr__(self):
        return f"<ZipInfo filename={self.filename!r} file_size={self.file_size!r}>"


def _end(data):
    """(Number of entries, size of their list, its offset, where the list ends); None if this is not
    a ZIP file."""
    at = len(data) - 22
    if at < 0 or data[at : at + 4] != _END or data[-2:] != b"\0\0":
        at = data.rfind(_END, max(0, at - ZIP_MAX_COMMENT))
        if at < 0 or len(data) < at + 22:
            return None
    count, size, offset = _number(data, at + 10, 2), _number(data, at + 12, 4), _number(data, at + 16, 4)
    where = at
    if at >= 76 and data[at - 20 : at - 16] == _LOCATOR64 and data[at - 76 : at - 72] == _END64:
        where = at - 76
        count, size, offset = _number(data, where + 32, 8), _number(data, where + 40, 8), _number(data, where + 48, 8)
    comment = data[at + 22 : at + 22 + _number(data, at + 20, 2)]
    return count, size, offset, where, comment


def _wide(info):
    # Sizes of 64 bits are in the extra field.
    extra = info.extra
    while len(extra) >= 4:
        kind, size = _number(extra, 0, 2), _number(extra, 2, 2)
        if size + 4 > len(extra):
            raise BadZipFile("Corrupt extra field %04x (size=%d)" % (kind, size))
        if kind == 1:
            at = 4
            for name in ("file_size", "compress_size", "header_offset"):
                if getattr(info, name) in (0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF):
                    if at + 8 > size + 4:
                        raise BadZipFile("Corrupt zip64 extra field.")
                    setattr(info, name, _number(extra, at, 8))
                    at += 8
        extra = extra[size + 4 :]


def _entry(data, at):
    """(The entry at a place in the list, the place of the next one)"""
    if len(data) < at + 46:
        raise BadZipFile("Truncated central directory")
    if data[at : at + 4] != _ENTRY:
        raise BadZipFile("Bad magic number for central directory")
    flags, date, time = _number(data, at + 8, 2), _number(data, at + 14, 2), _number(data, at + 12, 2)
    begin = at + 46
    end = begin + _number(data, at + 28, 2)
    info = ZipInfo(data[begin:end].decode("utf-8" if flags & 0x800 else "cp437"))
    info.flag_bits, info.compress_type, info.CRC = flags, _number(data, at + 10, 2), _number(data, at + 16, 4)
    info.compress_size, info.file_size = _number(data, at + 20, 4), _number(data, at + 24, 4)
    info.header_offset, info.external_attr = _number(data, at + 42, 4), _number(data, at + 38, 4)
    info.date_time = (date >> 9) + 1980, date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, (time & 31) * 2
    begin, end = end, end + _number(data, at + 30, 2)
    info.extra = data[begin:end]
    begin, end = end, end + _number(data, at + 32, 2)
    info.comment = data[begin:end]
    if info.extra:
        _wide(info)
    return info, end


def is_zipfile(filename):
    try:
        data = filename.read() if hasattr(filename, "read") else _contents(filename)
    except OSError:
        return False
    return _end(data) is not None


def _contents(path):
    with open(path, "rb") as opened:
        return opened.read()


class ZipFile:
    fp = None

    def __init__(
        self,
        file,
        mode="r",
        compression=ZIP_STORED,
        allowZip64=True,
        compresslevel=None,
        *,
        strict_timestamps=True,
        metadata_encoding=None,
    ):
        if mode not in ("r", "w", "x", "a"):
            raise ValueError("ZipFile requires mode 'r', 'w', 'x', or 'a'")
        if mode != "r" or metadata_encoding is not None:
            _cobra.unsupported("zipfile.ZipFile() that is written, or with metadata_encoding")
        self.mode, self.compression, self.debug, self.pwd, self.NameToInfo, self.filelist = (
            mode,
            compression,
            0,
            None,
            {},
            [],
        )
        self._own = not hasattr(file, "read")
        if self._own:
            self.filename, self.fp = os.fspath(file), open(file, "rb")
        else:
            self.filename, self.fp = getattr(file, "name", None), file
            self.fp.seek(0)
        self._data = self.fp.read()
        self._read_list()

    def _read_list(self):
        data = self._data
        found = _end(data)
        if found is None:
            raise BadZipFile("File is not a zip file")
        count, size, offset, end, self.comment = found
        before = end - size - offset  # what stands before the ZIP file
        at = offset + before
        if at < 0:
            raise BadZipFile("Bad offset for central directory")
        listed, at = data[at : at + size], 0
        while at < size:
            info, at = _entry(listed, at)
            info.header_offset += before
            self.filelist.append(info)
            self.NameToInfo[info.filename] = info

    def namelist(self):
        return [info.filename for info in self.filelist]

    def infolist(self):
        return self.filelist

    def getinfo(self, name):
        info = self.NameToInfo.get(name)
        if info is None:
            raise KeyError("There is no item named %r in the archive" % name)
        return info

    def _packed(self, name):
        """(Entry, its bytes as they are in the file)"""
        info, data = name if isinstance(name, ZipInfo) else self.getinfo(name), self._data
        if self.fp is None:
            raise ValueError("Attempt to use ZIP archive that was already closed")
        at = info.header_offset
        if at < 0:
            raise OSError(22, "Invalid argument")
        if len(data) < at + 30:
            raise BadZipFile("Truncated file header")
        if data[at : at + 4] != _HEADER:
            raise BadZipFile("Bad magic number for file header")
        begin = at + 30
        end = begin + _number(data, at + 26, 2)
        if info.flag_bits & 0x20:
            raise NotImplementedError("compressed patched data (flag bit 5)")
        if info.flag_bits & 0x40:
            raise NotImplementedError("strong encryption (flag bit 6)")
        there = data[begin:end].decode("utf-8" if _number(data, at + 6, 2) & 0x800 else "cp437")
        if there != info.orig_filename:
            raise BadZipFile("File name in directory %r and header %r differ." % (info.orig_filename, there))
        if info.flag_bits & 1:
            raise RuntimeError("File %r is encrypted, password required for extraction" % info.filename)
        end += _number(data, at + 28, 2)
        return info, data[end : end + info.compress_size]

    def _content(self, name, keep):
        """(The first `keep` bytes of a member, how many it has)"""
        info, packed = self._packed(name)
        if info.compress_type == ZIP_STORED:
            if len(packed) < info.file_size:
                raise EOFError
            content, size = packed[: info.file_size], info.file_size
            crc = zlib.crc32(content)
        elif info.compress_type == ZIP_DEFLATED:
            content, size, crc, code, message, _ = _cobra.inflate(packed, -15, info.file_size, keep)
            zlib._failed(code, message)
            if code != 1 and size < info.file_size:
                raise EOFError
        elif info.compress_type in (ZIP_BZIP2, ZIP_LZMA):
            _cobra.unsupported("a ZIP file with compression %d" % info.compress_type)
        else:
            raise NotImplementedError("That compression method is not supported")
        if crc != info.CRC:
            raise BadZipFile("Bad CRC-32 for file %r" % info.filename)
        return content[:keep], size

    def read(self, name, pwd=None):
        return self._content(name, 1 << 62)[0]

    def open(self, name, mode="r", pwd=None, *, force_zip64=False):
        if mode not in ("r", "w"):
            raise ValueError('open() requires mode "r" or "w"')
        if mode == "w":
            _cobra.unsupported("writing into a zipfile.ZipFile")
        made = io.BytesIO(self.read(name))
        made.name, made.mode = name.filename if isinstance(name, ZipInfo) else name, "r"
        return made

    def testzip(self):
        for info in self.filelist:
            try:
                self.read(info)
            except BadZipFile:
                return info.filename

    def close(self):
        if self.fp is not None and self._own:
            self.fp.close()
        self.fp = None

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()

    def __repr__(self):
        shown = "" if self.filename is None else f" filename={self.filename!r}"
        return f"<zipfile.ZipFile{shown}" + (f" mode={self.mode!r}>" if self.fp is not None else " [closed]>")

    def _written(self, *args, **kwargs):
        _cobra.unsupported("writing files from or into a zipfile.ZipFile")

    extract = extractall = write = writestr = mkdir = _written
