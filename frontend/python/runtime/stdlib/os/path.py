import _cobra
import _temporary

sep = "/"
curdir, pardir, extsep, pathsep, altsep, devnull = ".", "..", ".", ":", None, "/dev/null"
defpath = "/bin:/usr/bin"
supports_unicode_filenames = False


def _text(p):
    if isinstance(p, str):
        return p
    if isinstance(p, bytes):
        return p.decode("utf-8", "surrogateescape")
    method = getattr(type(p), "__fspath__", None)
    if method is None:
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(p).__name__}")
    return method(p)


def join(a, *p):
    path = _text(a)
    for b in map(_text, p):
        if b.startswith("/"):
            path = b
        elif not path or path.endswith("/"):
            path += b
        else:
            path += "/" + b
    return path


def split(p):
    p = _text(p)
    i = p.rfind("/") + 1
    head, tail = p[:i], p[i:]
    if head and head != "/" * len(head):
        head = head.rstrip("/")
    return head, tail


def basename(p):
    return split(p)[1]


def dirname(p):
    return split(p)[0]


def splitext(p):
    p = _text(p)
    slash = p.rfind("/")
    dot = p.rfind(".")
    if dot > slash:
        i = slash + 1
        while i < dot:
            if p[i] != ".":
                return p[:dot], p[dot:]
            i += 1
    return p, ""


def isabs(p):
    return _text(p).startswith("/")


def normpath(p):
    p = _text(p)
    if not p:
        return "."
    start = "//" if p.startswith("//") and not p.startswith("///") else "/" if p.startswith("/") else ""
    parts = []
    for part in p.split("/"):
        if part in ("", "."):
            continue
        if part != ".." or (not start and not parts) or (parts and parts[-1] == ".."):
            parts.append(part)
        elif parts:
            parts.pop()
    return start + "/".join(parts) or "."


def abspath(p):
    p = _text(p)
    return normpath(p if isabs(p) else join(_cobra.work_folder, p))


def realpath(filename, *, strict=False):
    return abspath(filename)


def relpath(p, start=None):
    if not p:
        raise ValueError("no path specified")
    start = _cobra.work_folder if start is None else start
    a, b = abspath(start).split("/")[1:], abspath(p).split("/")[1:]
    a, b = [x for x in a if x], [x for x in b if x]
    n = 0
    while n < len(a) and n < len(b) and a[n] == b[n]:
        n += 1
    return "/".join([".."] * (len(a) - n) + b[n:]) or "."


def expanduser(p):
    return _text(p)


def expandvars(p):
    return _text(p)


def normcase(p):
    return _text(p)


def commonprefix(m):
    if not m:
        return ""
    a, b = min(m), max(m)
    for i, c in enumerate(a):
        if c != b[i]:
            return a[:i]
    return a


def splitdrive(p):
    p = _text(p)
    return p[:0], p


def commonpath(paths):
    paths = [_text(p) for p in paths]
    if not paths:
        raise ValueError("commonpath() arg is an empty sequence")
    if len({p.startswith("/") for p in paths}) > 1:
        raise ValueError("Can't mix absolute and relative paths")
    split_paths = [[c for c in p.split("/") if c and c != "."] for p in paths]
    common = list(split_paths[0])
    for parts in split_paths[1:]:
        n = 0
        while n < len(common) and n < len(parts) and common[n] == parts[n]:
            n += 1
        del common[n:]
    return ("/" if paths[0].startswith("/") else "") + "/".join(common)


# A file of weights or of compiled code is taken to be absent: who finds it goes on to load it.
def isfile(p):
    return not isinstance(p, int) and _temporary.kind(_text(p)) == "file"


def isdir(p):
    return not isinstance(p, int) and _temporary.kind(_text(p)) == "folder"


def exists(p):
    return not isinstance(p, int) and _temporary.kind(_text(p)) in ("file", "folder")


lexists = exists


def islink(p):
    return False


def ismount(p):
    return abspath(p) == "/"


def samefile(f1, f2):
    for p in f1, f2:
        if not exists(p):
            raise FileNotFoundError(2, "No such file or directory", p)
    return abspath(f1) == abspath(f2)


def getsize(p):
    import os

    return os.stat(p).st_size


def getmtime(p):
    import os

    return os.stat(p).st_mtime


def getatime(p):
    import os

    return os.stat(p).st_atime


def getctime(p):
    import os

    return os.stat(p).st_ctime
