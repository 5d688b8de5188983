#!/usr/bin/env python3
"""Says what is in the portable programs: list_libraries.py LINKED TRIPLET OUT.

LINKED has the static libraries that link_statically.py took members of. OUT/libraries.txt gets a line
for each: name, version, Debian's source package, licences, separated by tabs. OUT/licences gets the
texts, those that they name in /usr/share/common-licenses, and notices.txt, which has what is copied
into those libraries and Debian's texts leave out. Libraries that are headers only leave no trace in
a link: HEADERS_ONLY names them.
"""

import os
import re
import shutil
import subprocess
import sys

HEADERS_ONLY = (
    "libboost1.81-dev",
    "libcli11-dev",
    "libeigen3-dev",
    "libflatbuffers-dev",
    "libtomlplusplus-dev",
    "nlohmann-json3-dev",
)
# Libraries that portable-dependencies.sh builds, and the installed packages of the same source.
BUILT = {
    "libprometheus-cpp-core.a": "prometheus-cpp-dev",
    "libpq.a": "libpq-dev",
    "libpgcommon.a": "libpq-dev",
    "libpgport.a": "libpq-dev",
    "libonnx_proto.a": "libonnx-dev",
}


# Packages that are unpacked, not installed (scripts/portable-dependencies.sh arm64).
HERE = os.path.dirname(os.path.abspath(__file__))
SYSROOT = os.path.join(os.path.dirname(HERE), "build", "portable", "sysroot-arm64")
COMMON = "/usr/share/common-licenses"


def dpkg_query(root, *arguments):
    """What dpkg knows of the packages below `root`; empty if that is nothing."""
    database = ["--admindir=" + os.path.join(root, "var/lib/dpkg")]
    return subprocess.run(["dpkg-query", *database, *arguments], capture_output=True, text=True).stdout


def package_of(path):
    """The Debian package of a static library, without its architecture, and the root that it is in."""
    name = os.path.basename(path)
    if name in BUILT:
        return BUILT[name], "/"
    path = os.path.realpath(path)
    root = SYSROOT if path.startswith(SYSROOT + "/") else "/"
    path = path[len(root.rstrip("/")) :]
    for known in (path, path.removeprefix("/usr"), "/usr" + path):
        found = dpkg_query(root, "--search", known)
        if found:
            return re.split("[:,]", found)[0], root
    raise SystemExit("%s: is of no Debian package" % path)


def source_of(package, architecture, root):
    """Source package and version."""
    for name in (package + ":" + architecture, package):
        found = dpkg_query(root, "--show", "--showformat=${source:Package} ${source:Version}\n", name)
        if found.strip():
            return found.split("\n")[0].split()
    raise SystemExit("%s: is not installed" % package)


def licences_in(copyright_file):
    """Short names of the licences in a machine-readable copyright file; else "see the text"."""
    text = open(copyright_file, encoding="utf-8", errors="replace").read()
    named = re.findall(r"^License:[ \t]*(\S.*)$", text, re.MULTILINE)
    return ", ".join(sorted(set(named))) or "see the text"


def copy_common_licences(folder):
    """The texts that others in the folder name. Not every machine has them where Debian does."""
    named = set()
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            named.update(re.findall(COMMON + r"/([\w.+-]*\w)", file.read()))
    os.makedirs(os.path.join(folder, "common-licenses"))
    for name in sorted(named):
        shutil.copyfile(os.path.join(COMMON, name), os.path.join(folder, "common-licenses", name))


def main():
    linked, triplet, out = sys.argv[1:]
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}[triplet.split("-")[0]]
    names = {}
    for path in open(linked).read().split():
        names.setdefault(package_of(path), []).append(os.path.basename(path)[3:-2])
    for package in HEADERS_ONLY:
        names.setdefault((package, "/"), ["headers"])
    rows = {}
    for (package, root), libraries in names.items():
        source, version = source_of(package, architecture, root)
        text = os.path.join(root, "usr/share/doc/%s/copyright" % package)
        shutil.copyfile(text, os.path.join(out, "licences", source))
        shown = source if libraries == ["headers"] or len(libraries) > 3 else " ".join(sorted(set(libraries)))
        rows.setdefault((source, version), (set(), licences_in(text)))[0].add(shown)
    shutil.copyfile(os.path.join(HERE, "notices.txt"), os.path.join(out, "licences", "notices.txt"))
    copy_common_licences(os.path.join(out, "licences"))
    with open(os.path.join(out, "libraries.txt"), "w") as file:
        for (source, version), (shown, licences) in sorted(rows.items()):
            file.write("%s\t%s\t%s\t%s\n" % (" ".join(sorted(shown)), version, source, licences))


if __name__ == "__main__":
    main()
