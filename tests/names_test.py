#!/usr/bin/env python3
"""A name is defined once in its namespace, and a file's names are in the namespace of its folder.

    names_test.py [ROOT]     exit 0: they are, 1: names that are not, each with both places
Two definitions of one type in two files of a program are undefined behaviour that no compiler
reports; two that merely never meet mislead a reader. What base/ declares is everybody's: no other
folder gives its name to something else. What counts is types, aliases, constants and functions at
the scope of a namespace. Functions may be overloaded: two of them clash when they take the same
types. In an anonymous namespace a source may repeat what other sources call theirs, but not what a
header declares.
"""
import collections
import os
import re
import sys
import tempfile

from cpp_source import definitions_of
from layering_test import root_asked_for, sources

# Folder -> its namespace; the longest matching folder counts. Namespaces below it are allowed.
NAMESPACE = {
    "base": "cobra",
    "graph": "cobra::graph",
    "frontend": "cobra::frontend",
    "frontend/python": "cobra::python",
    "frontend/ncnn": "cobra::ncnn",
    "frontend/onnx": "cobra::onnx",
    "frontend/tflite": "cobra::tflite",
    "frontend/nas": "cobra::nas",
    "export": "cobra::exporting",
    "model/text": "cobra::text",
    "model/net": "cobra::net",
    "model/infer": "cobra::infer",
    "model/kernels": "cobra::kernels",
    "model/predict": "cobra::predict",
    "model/training": "cobra::training",
    "model/space": "cobra::space",
    "lab": "cobra::lab",
    "train": "cobra::train",
    "store": "cobra::store",
    "proto": "cobra::proto",
    "worker": "cobra::worker",
    "reader": "cobra::reader",
    "report": "cobra::report",
    "server": "cobra::server",
    "server/http": "cobra::http",
    "client": "cobra::client",
    "portable": "cobra",
}
# What other libraries look for by its name: they decide where it stands.
ANYWHERE = {"main", "LLVMFuzzerTestOneInput", "AbslHashValue", "PrintTo"}
ANONYMOUS = "(anonymous)"
# A program links one of the two: without LibTorch, or without a GPU's driver, the same functions are
# defined another way.
INSTEAD_OF = {
    "worker/execute/without_libtorch.cc": "worker/execute/executor.cc",
    "worker/machine/without_gpu_driver.cc": "worker/machine/gpu.cc",
}


def namespace_of(path):
    folder = os.path.dirname(path)
    while folder and folder not in NAMESPACE:
        folder = os.path.dirname(folder)
    return NAMESPACE.get(folder)


def without_anonymous(namespace):
    return re.sub(r"(::)?\(anonymous\)", "", namespace)


def is_below(name, namespace):
    return name == namespace or name.startswith(namespace + "::")


def misplaced(path, definitions):
    """Definitions outside of the folder's namespace."""
    if path.startswith(("tests/", "examples/")):
        return []  # a test stands in the namespace of what it tests, or in any other of ours; an example in none
    wanted = namespace_of(path)
    if wanted is None:
        return [f"{path}:1: no namespace for this folder: add one to {os.path.basename(__file__)}"]
    found = []
    for definition in definitions:
        inside = without_anonymous(definition.namespace)
        others = [name for name in NAMESPACE.values() if name.startswith(wanted + "::")]
        if is_below(inside, wanted) and not any(is_below(inside, other) for other in others):
            continue
        if (
            not definition.has_body
            or definition.in_class
            or definition.specialises
            or definition.c_linkage
            or definition.name in ANYWHERE
        ):
            continue
        found.append(
            f"{path}:{definition.line}: {definition.name} is in namespace {inside or '::'}, the folder's is {wanted}"
        )
    return found


def key_of(definition):
    kind = "function" if definition.kind == "function" else "name"
    return definition.namespace, definition.name, kind, definition.parameters


def counts(definition):
    """Whether the definition is one that may clash: at the scope of a namespace, and not of a
    member, test or specialisation."""
    return (
        not definition.in_class
        and "::" not in definition.name
        and definition.name not in ANYWHERE
        and not definition.specialises
        and not re.match(r"[A-Z][A-Z_]*$", definition.name)  # TEST(...) and its like
    )


def repeated(by_file):
    """Names that two files define in one namespace; anonymous ones against those that headers
    declare."""
    defined, declared = collections.defaultdict(dict), collections.defaultdict(dict)
    for path, definitions in by_file.items():
        for definition in definitions:
            if not counts(definition):
                continue
            anonymous = ANONYMOUS in definition.namespace
            if definition.has_body and not (anonymous and path.endswith(".cc")):
                defined[key_of(definition)].setdefault(INSTEAD_OF.get(path, path), definition.line)
            if path.endswith(".h") and not anonymous:
                declared[definition.namespace, definition.name].setdefault(path, definition.line)
    found = []
    for (namespace, name, _, _), places in sorted(defined.items()):
        if len(places) > 1:
            (first, line), *others = sorted(places.items())
            where = ", ".join(f"{path}:{number}" for path, number in others)
            found.append(f"{first}:{line}: {namespace}::{name} is defined in {where} too")
    for path, definitions in by_file.items():
        for definition in definitions:
            if ANONYMOUS not in definition.namespace or not counts(definition) or not path.endswith(".cc"):
                continue
            outer = without_anonymous(definition.namespace)
            for header, line in declared.get((outer, definition.name), {}).items():
                if header.startswith("tests/") and not path.startswith("tests/"):
                    continue  # the two never meet
                found.append(
                    f"{path}:{definition.line}: {definition.name} of the anonymous namespace is {outer}::{definition.name} "
                    f"of {header}:{line} too"
                )
    return list(dict.fromkeys(found))


def hidden(by_file):
    """Names of base/, which every folder sees, that another folder gives to something of its
    own."""
    of_base = {}
    for path, definitions in by_file.items():
        if path.startswith("base/") and path.endswith(".h"):
            of_base.update(
                (definition.name, f"{path}:{definition.line}") for definition in definitions if counts(definition)
            )
    # Not the namespaces inside a folder's: they are tables of functions, which are named after
    # operators.
    folders = set(NAMESPACE.values()) - {NAMESPACE["base"]}
    found = []
    for path, definitions in by_file.items():
        for definition in definitions:
            if definition.name in of_base and counts(definition) and without_anonymous(definition.namespace) in folders:
                found.append(f"{path}:{definition.line}: {definition.name} hides that of {of_base[definition.name]}")
    return found


def violations(root):
    by_file, found = {}, []
    for path in sources(root, (".cc", ".h")):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            by_file[path] = definitions_of(file.read())
        found += misplaced(path, by_file[path])
    return found + repeated(by_file) + hidden(by_file)


def in_namespace(name, text):
    return f"namespace {name} {{\n{text}\n}}  // namespace {name}"


# File -> text; each of PLANTED has to be found, none of CLEAN.
PLANTED = {
    "graph/shape/layout.h": in_namespace("cobra::graph", "struct Layout {\n  int width = 0;\n};"),
    "store/a.h": in_namespace("cobra::store", "class Call final : public Base<int> {\n public:\n  Call();\n};"),
    "store/c.h": in_namespace("cobra::store", "using Names = std::vector<int>;\nenum class Kind { kOne };"),
    "server/a.cc": in_namespace("cobra::server", "std::string Shown(const Graph& graph, int width) { return {}; }"),
    "worker/a.h": in_namespace("cobra::worker", "inline constexpr int kWidth = 3;"),
    "client/a.cc": in_namespace("cobra::client", "namespace {\nstruct Row {};\n}  // namespace"),
    "client/b.cc": in_namespace(
        "cobra::client", "namespace {\nint Width(int columns) { return columns; }\n}  // namespace"
    ),
    "base/a.h": in_namespace("cobra::graph", "struct Elsewhere {};"),
    "model/training/a.cc": in_namespace("cobra", "void Fit() {}"),
    "lab/tables/a.h": in_namespace("cobra::training", "struct Table {};"),
    "train/a.cc": in_namespace("cobra::train", "namespace {\ndouble Median(int) { return 0; }\n}  // namespace"),
    "newfolder/a.h": in_namespace("cobra", "struct New {};"),
}
CLEAN = {
    "graph/a.cc": in_namespace("cobra::graph", "struct Layout { int height; };"),
    "store/b.cc": in_namespace("cobra::store", 'template <typename T>\nstruct Call {\n  const char* text = "{";\n};'),
    "store/d.cc": in_namespace("cobra::store", "struct Names {};\nenum Kind : int { kTwo };"),
    "server/b.cc": in_namespace(
        "cobra::server", "std::string Shown(const Graph& other, int w)\n    ABSL_LOCKS_EXCLUDED(mutex) { return {}; }"
    ),
    "worker/b.cc": in_namespace("cobra::worker", "const std::array<int, 2> kWidth = {1, 2};"),
    "client/a.h": in_namespace("cobra::client", "class Row;\nint Width(int columns);\n\nint Height(int rows);"),
    "client/c.cc": in_namespace(
        "cobra::client", "int Width(int columns) { return 2; }\nint Width(const Row& row) { return 3; }"
    ),
    "client/d.cc": in_namespace(
        "cobra::client", "namespace {\nstruct Own {};\n}  // namespace\nint Height(int rows) { return 2 * rows; }"
    ),
    "client/e.cc": in_namespace("cobra::client", "namespace {\nstruct Own {};\n}  // namespace")
    + "\nint main() { return 0; }",
    "base/c.h": in_namespace("cobra", "double Median(std::vector<double> values);"),
    "base/b.cc": in_namespace(
        "cobra", "namespace detail {\n/* struct Elsewhere {}; */\nvoid F() { struct Local {}; }\n}"
    ),
    "graph/b.h": in_namespace("cobra::graph", "#if A\nstruct Once {};\n#else\nstruct Once {};\n#endif")
    + "\ntemplate <>\nstruct std::hash<cobra::graph::Once> {};",
}
# Of the planted pairs the file that comes first is the one that is named.
FOUND_IN = {"graph/shape/layout.h": "graph/a.cc"}


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**PLANTED, **CLEAN}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        found = {line.split(":")[0] for line in violations(root)}
        planted = {FOUND_IN.get(path, path) for path in PLANTED}
        return sorted(planted - found), sorted(found - planted)


def main():
    missed, wrong = self_test()
    if missed or wrong:
        print(f"the test itself is broken: planted but not found {missed}, found but clean {wrong}")
        return 1
    found = violations(root_asked_for())
    print("\n".join(found) or "names are defined once, each in its folder's namespace")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
