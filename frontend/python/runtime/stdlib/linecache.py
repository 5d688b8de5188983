# The lines of the files that a program may read.
cache = {}


def updatecache(filename, module_globals=None):
    if not filename or filename.startswith("<") and filename.endswith(">"):
        return []
    try:
        with open(filename) as f:
            lines = f.readlines()
    except OSError:
        return []
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    cache[filename] = len("".join(lines)), None, lines, filename
    return lines


def getlines(filename, module_globals=None):
    entry = cache.get(filename)
    if entry is not None and len(entry) != 1:
        return entry[2]
    return updatecache(filename, module_globals)


def getline(filename, lineno, module_globals=None):
    lines = getlines(filename, module_globals)
    return lines[lineno - 1] if 1 <= lineno <= len(lines) else ""


def clearcache():
    cache.clear()


def checkcache(filename=None):
    pass


def lazycache(filename, module_globals):
    return False
