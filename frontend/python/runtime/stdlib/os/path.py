import _cobra

sep = "/"
curdir, pardir, extsep, pathsep, altsep, devnull = ".", "..", ".", ":", None, "/dev/null"


def _text(p):
    if isinstance(p, str):
        return p
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
    return normpath(p if isabs(p) else join("/", p))


realpath = abspath


def relpath(p, start="/"):
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


def isfile(p):
    return _cobra.is_file(_text(p))


def isdir(p):
    return _cobra.is_folder(_text(p))


def exists(p):
    return isfile(p) or isdir(p)


lexists = exists


def islink(p):
    return False


def getsize(p):
    raise FileNotFoundError(2, "No such file or directory", p)


getmtime = getsize
