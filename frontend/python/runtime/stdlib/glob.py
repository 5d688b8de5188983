import fnmatch
import os
import re

import _cobra

_MAGIC = re.compile("([*?[])")


def has_magic(s):
    return _MAGIC.search(s) is not None


def escape(pathname):
    return _MAGIC.sub(r"[\1]", pathname)


def _names(folder, hidden):
    return [name for name in _cobra.list_folder(folder or ".") or () if hidden or not name.startswith(".")]


def _below(folder, hidden):
    found = [""]
    for name in _names(folder, hidden):
        found.append(name.rstrip("/"))
        if name.endswith("/"):
            found += [name + rest for rest in _below(os.path.join(folder, name), hidden)[1:]]
    return found


def _matches(base, folder, names, recursive, hidden):
    """What is below base/folder, as paths that begin with `folder`."""
    name, rest = names[0], names[1:]
    here = os.path.join(base, folder) if base else folder
    if name == "**" and recursive:
        found = []
        for below in _below(here, hidden):
            path = os.path.join(folder, below)
            if rest:
                found += _matches(base, path, rest, recursive, hidden)
            else:
                found.append(path)
        return list(dict.fromkeys(found))
    if not has_magic(name):
        path = os.path.join(folder, name)
        there = os.path.join(base, path) if base else path
        if rest:
            return _matches(base, path, rest, recursive, hidden) if os.path.isdir(there) else []
        return [path] if os.path.exists(there) else []
    found = []
    for entry in _names(here, hidden or name.startswith(".")):
        if not fnmatch.fnmatchcase(entry.rstrip("/"), name):
            continue
        path = os.path.join(folder, entry.rstrip("/"))
        if not rest:
            found.append(path)
        elif entry.endswith("/"):
            found += _matches(base, path, rest, recursive, hidden)
    return found


def glob(pathname, *, root_dir=None, dir_fd=None, recursive=False, include_hidden=False):
    pathname = os.fsdecode(pathname)
    base = "" if root_dir is None else os.fsdecode(root_dir)
    start = "/" if pathname.startswith("/") else ""
    if start and _cobra.file_kind(os.path.dirname(_MAGIC.split(pathname)[0]) or "/") is None:
        return []
    names = [name for name in pathname.split("/") if name]
    if not names:
        return [start] if start else []
    # The folders above that of the first pattern may lie outside of what a program sees: they are
    # not looked at.
    plain = 0
    while plain < len(names) - 1 and not has_magic(names[plain]):
        plain += 1
    folder = start + "/".join(names[:plain])
    if plain and not os.path.isdir(os.path.join(base, folder) if base else folder):
        return []
    found = _matches(base, folder, names[plain:], recursive, include_hidden)
    return [path for path in found if path]


def iglob(pathname, **options):
    return iter(glob(pathname, **options))
