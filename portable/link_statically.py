#!/usr/bin/env python3
"""Links a program statically from the objects that the ordinary build links dynamically.

link_statically.py DEPENDENCIES COMMAND...: COMMAND is the linker's command line as CMake wrote it.
For each shared library in it the static one is linked: of DEPENDENCIES/lib
(scripts/portable-dependencies.sh), or the one beside it. What those need themselves is added. CMake
calls this as RULE_LAUNCH_LINK (portable/CMakeLists.txt).
"""

import glob
import os
import re
import subprocess
import sys

# What static libraries need and shared ones bring along: private libraries of gRPC, libpq, re2.
MORE = ("grpc", "gpr", "address_sorting", "upb", "cares", "re2", "ssl", "crypto", "z", "pgcommon", "pgport")


def static_library(name, folders):
    """lib`name`.a of the first folder that has it."""
    for folder in folders:
        path = os.path.join(folder, "lib%s.a" % name)
        if os.path.exists(path):
            return path
    return None


def static_command(dependencies, command):
    """`command` with static libraries only, or the names of those that are missing."""
    kept, libraries, missing, beside = [], [], [], None
    for word in command:
        shared = re.fullmatch(r"(/.*)/lib([^/]+)\.so[.0-9]*", word)
        if shared is None:
            kept.append(word)
            continue
        beside = shared.group(1)
        found = static_library(shared.group(2), [dependencies, beside])
        if found is None:
            missing.append(shared.group(2))
        elif found not in libraries:
            libraries.append(found)
    folders = [dependencies, beside or "/usr/lib"]
    more = [static_library(name, folders) for name in MORE] + sorted(glob.glob(os.path.join(folders[1], "libabsl_*.a")))
    libraries += [path for path in more if path is not None and path not in libraries]
    # Static libraries name each other in circles.
    static = "-static" if "-fno-pie" in command else "-static-pie"
    flags = [static, "-s", "-Wl,--gc-sections", "-Wl,--build-id=none"]
    return kept + flags + ["-Wl,--start-group"] + libraries + ["-Wl,--end-group"], missing


def main():
    dependencies, command = os.path.join(sys.argv[1], "lib"), sys.argv[2:]
    command, missing = static_command(dependencies, command)
    if missing:
        print(
            "%s: no static library of %s: scripts/portable-dependencies.sh builds what Debian does not have"
            % (dependencies, ", ".join(missing)),
            file=sys.stderr,
        )
        return 1
    linked = subprocess.run(command + ["-Wl,--trace"], capture_output=True, text=True)
    # "(/usr/lib/libz.a)inflate.o": what a member was taken of.
    used = sorted(set(re.findall(r"^\(?(/\S+\.a)\)?\S*$", linked.stdout, re.MULTILINE)))
    with open(command[command.index("-o") + 1] + ".libraries", "w") as file:
        file.write("".join(path + "\n" for path in used))
    # glibc says of each function that may load modules that it may: main.cc keeps it from that.
    lines = re.sub(r"[^\n]*: in function `[^\n]*\n(?=[^\n]*in statically linked applications)", "", linked.stderr)
    for line in lines.splitlines():
        if "in statically linked applications" not in line:
            print(line, file=sys.stderr)
    return linked.returncode


if __name__ == "__main__":
    sys.exit(main())
