#!/usr/bin/env python3
"""Which sources are compiled as one (cmake/UnityBuild.cmake): those that define different names.

    unity_groups.py TARGETS CACHE     TARGETS: lines of TARGET;SOURCE... Prints SOURCE;GROUP lines
What a source defines for itself (in its anonymous namespace, or as a macro) must not meet the same
name of another source, so sources that share one never get the same group. CACHE: a file that keeps
the names of each source until it changes.
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
from cpp_source import code_of, definitions_of  # noqa: E402

# Of one group: long enough to save time, short enough to spread over the cores.
MOST_SOURCES, MOST_LINES = 8, 2400
ENUM = re.compile(r"\benum\b[^;{()]*\{([^}]*)\}")
# The second name of `constexpr int kA[] = {1}, kB[] = {2};`.
MORE = re.compile(r",\s*(k[A-Z]\w*)\s*(?:\[[^\]]*\]\s*)?(?==|\{)")
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
# The kernel's headers define again what the C library's do.
KERNEL = re.compile(r"^#include <linux/", re.MULTILINE)
ALIAS = re.compile(r"\b(?:namespace|using)\s+(\w+)\s*=")


def names_of(text):
    code = code_of(text)
    names = {found.name for found in definitions_of(text) if not found.in_class and "::" not in found.name}
    for enum in ENUM.finditer(code):
        names |= set(re.findall(r"[A-Za-z_]\w*", re.sub(r"=[^,]*", "", enum[1])))
    return names | set(MORE.findall(code)) | set(MACRO.findall(text)) | set(ALIAS.findall(code))


class Sources:
    """The names and lines of each source, read once."""

    def __init__(self, cache):
        self.cache, self.known = cache, {}
        try:
            if os.stat(cache).st_mtime_ns > os.stat(__file__).st_mtime_ns:  # of the rules as they are
                with open(cache, encoding="utf-8") as file:
                    self.known = json.load(file)
        except (OSError, ValueError):
            pass
        self.used = {}

    def of(self, path):
        """(names, lines); None for a source that the build generates."""
        if not os.path.exists(path):
            return None
        key = os.stat(path).st_mtime_ns
        if self.known.get(path, [0])[0] != key:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            lines = MOST_LINES if KERNEL.search(text) else text.count("\n")
            self.known[path] = [key, sorted(names_of(text)), lines]
        self.used[path] = self.known[path]
        return set(self.used[path][1]), self.used[path][2]

    def save(self):
        with open(self.cache + ".part", "w", encoding="utf-8") as file:
            json.dump(self.used, file)
        os.replace(self.cache + ".part", self.cache)


def main():
    sources, groups, grouped = Sources(sys.argv[2]), {}, set()
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = sorted(set(file.read().split("\n")) - {""})
    for line in lines:
        target, path = line.split(";")
        found = sources.of(path)
        if found is None or path in grouped:
            continue
        grouped.add(path)
        names, length = found
        own = groups.setdefault(target, [])
        for number, group in enumerate(own):
            full = group["sources"] >= MOST_SOURCES or group["lines"] + length > MOST_LINES
            if not full and not names & group["names"]:
                break
        else:
            number, group = len(own), {"names": set(), "sources": 0, "lines": 0}
            own.append(group)
        group["names"] |= names
        group["sources"] += 1
        group["lines"] += length
        print(f"{path};{target}_{number}")
    sources.save()


main()
