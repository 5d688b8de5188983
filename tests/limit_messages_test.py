#!/usr/bin/env python3
"""A message about a limit that is reached has one wording: LimitMessage (base/text/limit_message.h)
composes all of them.

    limit_messages_test.py [ROOT]     exit 0: it does, 1: statements with a wording of their own,
                                      each with file and line
The test first plants one statement of every kind in a tree of its own and fails if one of them is
not found.
"""
import os
import re
import sys
import tempfile

from layering_test import root_asked_for, sources

# What reports that a limit is reached; its statement ends at the next semicolon.
REPORT = re.compile(r"\b(ResourceExhaustedError|LimitReached|LimitError|Kind::kLimit)\b[^;]*;")
OWN_WORDING = re.compile(r'"[^"\n]*\b((more|larger|longer|deeper|greater) than|limit is|limits? of)\b[^"\n]*"')


def violations(root):
    found = []
    for path in sources(root, (".cc", ".h")):
        if path.startswith("tests/") or path == "base/text/limit_message.cc":
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = re.sub(r"//[^\n]*", "", file.read())
        for report in REPORT.finditer(text):
            wording = OWN_WORDING.search(report[0])
            if wording:
                line = text.count("\n", 0, report.start()) + 1
                found.append(f"{path}:{line}: {wording[0]}: compose it with LimitMessage")
    return found


PLANTED = {
    "graph/a.cc": 'return absl::ResourceExhaustedError(absl::StrCat("more than ", most, " calls"));',
    "frontend/python/a.cc": 'return interp.LimitReached(\n    "torch.arange of more than 1e12 elements");',
    "frontend/tflite/a.cc": 'return LimitError(absl::StrCat(n, " tensors, the limit is ", most));',
    "server/a.cc": 'return UserError(Diagnostic::Kind::kLimit, absl::StrCat(n, " files, above the limit of ", most));',
}
CLEAN = {
    "base/text/limit_message.cc": 'return absl::StrCat("more than the limit of ", most);',
    "graph/b.cc": 'return absl::ResourceExhaustedError(LimitMessage("the network", most, "calls"));',
    "graph/c.cc": '// more than a limit of 3\nreturn absl::ResourceExhaustedError(what);\nPrint("larger than before");',
}


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**PLANTED, **CLEAN}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w") as file:
                file.write(text + "\n")
        found = {line.split(":")[0] for line in violations(root)}
        return sorted(set(PLANTED) - found), sorted(found - set(PLANTED))


def main():
    missed, wrong = self_test()
    if missed or wrong:
        print(f"the test itself is broken: planted but not found {missed}, found but clean {wrong}")
        return 1
    found = violations(root_asked_for())
    print("\n".join(found) or "one wording for all limits")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
