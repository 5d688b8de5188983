"""Builds the wheel of cobra-latency (PEP 517) with nothing but Python and protoc.

    python3 build_backend.py DIR           builds the wheel into DIR and prints its name
    python3 build_backend.py --stage DIR   writes the package into DIR, to be put on PYTHONPATH

Two things in the wheel are generated and never committed: the messages of proto/cobra/v1, and the
table of operators that the C++ reader uses (graph/ops.def,
frontend/python/torch/functions/functions.def). The messages live in the package
cobra_latency._proto and under protobuf names of their own, so that stubs of cobra.v1 that a program
has beside them do not collide.

The same sources give the same bytes: files are in order of their names and have one time stamp.
"""
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NAME = "cobra-latency"


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


VERSION = re.search(r"project\(cobra VERSION ([0-9.]+)", read("CMakeLists.txt"))[1]
MESSAGES = ("cobra", "error", "graph", "target")
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: How long a neural network takes on a device, before it is run there
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: grpcio>=1.51,<2
Requires-Dist: protobuf>=4.21.12,<8
Provides-Extra: optuna
Requires-Dist: optuna>=2.10,<6; extra == "optuna"
Provides-Extra: pymoo
Requires-Dist: pymoo>=0.6,<0.7; extra == "pymoo"
Provides-Extra: ray
Requires-Dist: ray[tune]>=2.9,<3; extra == "ray"
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: cobra-latency\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
TIME = (1980, 1, 1, 0, 0, 0)


# ---- the table of operators


def rows(text, macro):
    """The arguments of each call of a macro in a .def file, as text without quotes."""
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    found = []
    for match in re.finditer(macro + r"\(", text):
        found.append(_arguments(text, match.end()))
    return found


def _arguments(text, start):
    parts, part, quoted = [], "", False
    for c in text[start:]:
        if c == '"':
            quoted = not quoted
        elif c in ",)" and not quoted:
            parts.append(part.strip())
            part = ""
            if c == ")":
                return parts
        elif quoted or c not in "\n":
            part += c
    raise ValueError("a macro that does not end: " + text[start : start + 60])


def operators():
    """What the recorder of live models knows of an operator, from the tables of the C++ reader."""
    table = {}
    names = {}
    for name, cost, inputs, attributes, _, _ in rows(read("graph", "ops.def"), "COBRA_OP"):
        plain = name[:-1] if name.endswith("_") else name
        names[name] = plain
        table[plain] = {"cost": cost[1:].lower(), "inputs": [re.sub("#.*", "", i) for i in inputs.split()]}
        table[plain]["selects"] = [i.partition("#")[2] for i in inputs.split()]
    for name, storage, strides, _, randomness, *_ in rows(read("graph", "op_rules.def"), "COBRA_OP_RULES"):
        table[names[name]].update(storage=storage[1:], strides=strides[1:], random=randomness[1:])
    torch = ("frontend", "python", "torch")
    torch_rules = rows(read(*torch, "tensor", "torch_rules.def"), "COBRA_TORCH_RULES")
    for name, _, autocast, base, itself, arguments, _ in torch_rules:
        rules = {"autocast": autocast, "base": base, "itself": itself, "arguments": arguments}
        table[names[name]].update({key: rule[1:] for key, rule in rules.items()})
    functions = []
    for name, spellings, spaces, signature in rows(read(*torch, "functions", "functions.def"), "COBRA_TORCH_FUNCTION"):
        functions.append([names[name], spellings, spaces, signature])
    return json.dumps({"operators": table, "functions": functions}, indent=0, sort_keys=True)


# ---- the messages


def messages(folder):
    """Writes the Python messages and their types into FOLDER/cobra_latency/_proto."""
    with tempfile.TemporaryDirectory() as staged:
        target = os.path.join(staged, "cobra_latency", "_proto")
        os.makedirs(target)
        files = []
        for name in MESSAGES:
            text = read("proto", "cobra", "v1", name + ".proto")
            text = text.replace('import "cobra/v1/', 'import "cobra_latency/_proto/')
            text = text.replace("package cobra.v1;", "package cobra_latency.v1;")
            files.append(f"cobra_latency/_proto/{name}.proto")
            with open(os.path.join(staged, files[-1]), "w", encoding="utf-8") as file:
                file.write(text)
        try:
            subprocess.run(
                ["protoc", "-I", ".", "--python_out=" + folder, "--pyi_out=" + folder, *files], cwd=staged, check=True
            )
        except FileNotFoundError:
            raise SystemExit("protoc is not installed: apt install protobuf-compiler")
    package = os.path.join(folder, "cobra_latency", "_proto")
    for name in MESSAGES:  # what protoc leaves open, for strict type checkers
        path = os.path.join(package, name + "_pb2.pyi")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"_Mapping\](?=[,\] ])", "_Mapping[_Any, _Any]]", text).replace(
            "__slots__ = []", "__slots__: _List[str] = []"
        )
        with open(path, "w", encoding="utf-8") as file:
            file.write("from typing import Any as _Any, List as _List\n" + text)


# ---- the package and the wheel


def stage(folder):
    """Writes the whole package into FOLDER; the paths of its files."""
    folder = os.path.abspath(folder)
    for base, folders, files in os.walk(os.path.join(HERE, "cobra_latency")):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        to = os.path.join(folder, os.path.relpath(base, HERE))
        os.makedirs(to, exist_ok=True)
        for name in files:
            with open(os.path.join(base, name), "rb") as file:
                data = file.read()
            with open(os.path.join(to, name), "wb") as file:
                file.write(data)
    package = os.path.join(folder, "cobra_latency")
    os.makedirs(os.path.join(package, "_proto"), exist_ok=True)
    messages(folder)
    generated = {
        "_proto/__init__.py": '"""Messages of proto/cobra/v1; made by build_backend.py."""\n',
        "live/operators.json": operators(),
        "_version.py": f'"""Made by build_backend.py."""\n__version__ = "{VERSION}"\n',
    }
    for path, text in generated.items():
        with open(os.path.join(package, path), "w", encoding="utf-8") as file:
            file.write(text)
    found = []
    for base, folders, files in os.walk(package):
        folders[:] = sorted(f for f in folders if f != "__pycache__")
        found += [os.path.relpath(os.path.join(base, name), folder) for name in files if not name.endswith(".pyc")]
    return sorted(found)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The hook of PEP 517."""
    info = f"{NAME.replace('-', '_')}-{VERSION}.dist-info"
    wheel = f"{NAME.replace('-', '_')}-{VERSION}-py3-none-any.whl"
    with tempfile.TemporaryDirectory() as folder:
        contents = {}
        for path in stage(folder):
            with open(os.path.join(folder, path), "rb") as file:
                contents[path.replace(os.sep, "/")] = file.read()
    readme = read("client", "python", "README.md")
    contents[f"{info}/METADATA"] = (METADATA + readme).encode()
    contents[f"{info}/WHEEL"] = WHEEL.encode()
    contents[f"{info}/LICENSE"] = read("LICENSE").encode()
    record = ""
    for path, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    contents[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return wheel


def get_requires_for_build_wheel(config_settings=None):
    """The hook of PEP 517: nothing from an index is needed."""
    return []


def build_sdist(sdist_directory, config_settings=None):
    """The hook of PEP 517."""
    raise NotImplementedError("the sources are the whole repository: build a wheel")


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--stage":
        stage(sys.argv[2])
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        os.makedirs(sys.argv[1], exist_ok=True)
        print(build_wheel(sys.argv[1]))
    else:
        sys.exit(__doc__)
