# What a program writes below the folder for temporary files stays in memory: it is there as long as
# the program runs. Nothing else is written, and what else is on the machine is not there.
import _cobra

folder = "/tmp"
files = {folder: None}  # by path: the bytes of a file, None for a folder


def place(path):
    """The path as a key of `files`; None if it is not below the folder, or if a program's own files
    are there."""
    parts = []
    for part in path.split("/") if path.startswith("/") else ():
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    if parts[:1] != ["tmp"] or _cobra.file_kind(path) is not None:
        return None
    return "/" + "/".join(parts)


def kind(path):
    """As _cobra.file_kind() of what is elsewhere."""
    found = _cobra.file_kind(path)
    if found is not None:
        return found
    at = place(path)
    if at is None:
        return "" if _of_machine(path) and is_guarded() else None
    if at not in files:
        return ""
    return "folder" if files[at] is None else "file"


def is_guarded():
    """Whether the program is prepared for an OSError."""
    import contextlib

    return _cobra.under_try() or contextlib.suppress._active > 0


# What tells one machine from another: no program can ask which one this is.
_FACTS = (
    "/.dockerenv", "/run/.containerenv", "/etc/debian_version", "/proc/cpuinfo", "/proc/meminfo", "/proc/version",
    "/proc/self/cgroup", "/proc/1/cgroup", "/proc/self/mountinfo",
)  # fmt: skip


def _of_machine(path):
    if path in _FACTS or path.startswith(("/proc/device-tree/", "/proc/driver/", "/sys/")):
        return True
    return path.startswith("/etc/") and path.endswith("release") and path.count("/") == 2


def names(path):
    """The names in a folder, those of folders with a '/' behind; None if it is not one of these."""
    at = place(path)
    if at is None or files.get(at, b"") is not None:
        return None
    found = [one[len(at) + 1 :] for one in files if one.startswith(at + "/")]
    return sorted(one + "/" if files[at + "/" + one] is None else one for one in found if "/" not in one)


def make_folder(path, parents=False, exist_ok=False):
    at = place(path)
    above = at.rpartition("/")[0]
    if at in files:
        if exist_ok and files[at] is None:
            return
        raise FileExistsError(17, "File exists", path)
    if above not in files:
        if not parents:
            raise FileNotFoundError(2, "No such file or directory", path)
        make_folder(above, True, True)
    files[at] = None


def check_parent(at, path):
    above = at.rpartition("/")[0]
    if above not in files:
        raise FileNotFoundError(2, "No such file or directory", path)
    if files[above] is not None:
        raise NotADirectoryError(20, "Not a directory", path)


def remove(path, is_folder=False):
    at = place(path)
    if at not in files:
        raise FileNotFoundError(2, "No such file or directory", path)
    if is_folder and names(path):
        raise OSError(39, "Directory not empty", path)
    if is_folder and files[at] is not None:
        raise NotADirectoryError(20, "Not a directory", path)
    if not is_folder and files[at] is None:
        raise IsADirectoryError(21, "Is a directory", path)
    del files[at]


def rename(path, to):
    at, target = place(path), place(to)
    if at not in files:
        raise FileNotFoundError(2, "No such file or directory", path)
    check_parent(target, to)
    for one in [one for one in files if one == at or one.startswith(at + "/")]:
        files[target + one[len(at) :]] = files.pop(one)
