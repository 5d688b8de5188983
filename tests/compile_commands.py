"""How each source is compiled: compile_commands.json of a build, one entry a source.

With COBRA_UNITY (cmake/UnityBuild.cmake) its entries are files that include several sources; here
each of those has the command of its group.
"""
import json
import os
import re

MEMBER = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def compile_commands(build):
    entries = []
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            members = []
            if "/Unity/unity_" in entry["file"] and os.path.exists(entry["file"]):
                with open(entry["file"], encoding="utf-8") as group:
                    members = MEMBER.findall(group.read())
            for path in members or [entry["file"]]:
                command = entry["command"].replace(entry["file"], path)
                entries.append({**entry, "file": path, "command": command})
    return entries
