"""The programs that a platform wheel carries: what scripts/build-portable.sh has made, as the
archive cobra-VERSION-linux-ARCHITECTURE.tar.xz (or .tar.gz), or as the folder that is in it.

In a wheel the one executable is called cobra-client, so that it starts without Python. It is the
other programs as well, by the last component of argv[0]. A wheel cannot hold links:
cobra_latency/programs.py has functions that start it by the other names."""
import os
import re
import struct
import tarfile

NAME = re.compile(r"cobra-([0-9.]+)-linux-(x86_64|aarch64)")
MACHINES = {62: "x86_64", 183: "aarch64"}  # e_machine of ELF
INTERPRETER = 3  # the type of the segment that names the loader


class Programs:
    """`files`: the path in the archive, without its first folder -> the bytes."""

    def __init__(self, version, architecture, files):
        self.version = version
        self.architecture = architecture
        self.files = files

    @property
    def executable(self):
        return self.files["bin/cobra"]

    def data(self):
        """What the executable looks for beside itself."""
        return {path: data for path, data in sorted(self.files.items()) if path.startswith("share/cobra/")}

    def licences(self):
        """Of the libraries in the executable: the list of them, and the texts. Of the pages around
        them a wheel has none."""
        folder, wanted = "share/doc/cobra/", ("libraries.txt", "licences/")
        found = {path[len(folder) :]: data for path, data in sorted(self.files.items()) if path.startswith(folder)}
        return {path: data for path, data in found.items() if path.startswith(wanted)}

    def tags(self):
        """A static executable needs no C library, so one wheel is for all of them. 2.17 is the
        oldest glibc of any Python from 3.9 on, 1.1 the oldest musl that has a tag. manylinux2014 is
        what pip called 2.17 before 20.3."""
        platforms = ("manylinux2014", "manylinux_2_17", "musllinux_1_1")
        return [f"py3-none-{platform}_{self.architecture}" for platform in platforms]


def read(path):
    """The programs in an archive or a folder; ValueError if they are not ones."""
    path = os.path.abspath(path)
    name = NAME.fullmatch(re.sub(r"\.tar\.[gx]z$", "", os.path.basename(path)))
    if not name:
        raise ValueError(f"{path}: is not called cobra-VERSION-linux-ARCHITECTURE.tar.xz, nor is it such a folder")
    if not os.path.exists(path):
        raise ValueError(f"{path}: is not there; scripts/build-portable.sh makes it")
    files = _of_folder(path) if os.path.isdir(path) else _of_archive(path)
    programs = Programs(name[1], name[2], files)
    if "bin/cobra" not in files or not programs.data() or not programs.licences():
        raise ValueError(f"{path}: has no bin/cobra, data or licences; scripts/build-portable.sh makes it anew")
    _check(path, programs)
    return programs


def _check(path, programs):
    """What the tags say of the executable: its processor, and that it needs no loader."""
    head = programs.executable
    if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
        raise ValueError(f"{path}: bin/cobra is not a program for a 64-bit Linux")
    machine = MACHINES.get(struct.unpack_from("<H", head, 18)[0])
    if machine != programs.architecture:
        raise ValueError(f"{path}: bin/cobra is for {machine or 'another processor'}")
    (table,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    kinds = [struct.unpack_from("<I", head, table + size * i)[0] for i in range(count)]
    if INTERPRETER in kinds:
        raise ValueError(f"{path}: bin/cobra needs the loader of a C library, and so does not run on any Linux")


def _of_folder(path):
    files = {}
    for base, folders, names in os.walk(path):
        folders[:] = sorted(folder for folder in folders if folder != "__pycache__")
        for name in sorted(names):
            file = os.path.join(base, name)
            if not os.path.islink(file):
                with open(file, "rb") as opened:
                    files[os.path.relpath(file, path)] = opened.read()
    return files


def _of_archive(path):
    with tarfile.open(path) as archive:
        return {
            member.name.partition("/")[2]: archive.extractfile(member).read() for member in archive if member.isfile()
        }
