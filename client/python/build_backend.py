"""Builds wheels and the source distribution of cobra-latency (PEP 517).

    python3 build_backend.py DIR                      the wheel without programs
    python3 build_backend.py --portable PROGRAMS DIR  the wheel that carries programs
    python3 build_backend.py --sdist DIR              the source distribution
    python3 build_backend.py --stage DIR              writes the package into DIR, to be put on PYTHONPATH

The first three print the name of what they have built. PROGRAMS is what scripts/build-portable.sh
makes, as archive or folder (portable_programs.py). A front end such as pip asks for programs with
--config-settings programs=PROGRAMS, or programs=yes to build them as well.

Two things in a wheel are generated and never committed: the messages of proto/cobra/v1, which needs
protoc, and the table of operators that the C++ reader uses (graph/ops.def,
frontend/python/torch/functions/functions.def). The messages live in the package
cobra_latency._proto and under protobuf names of their own, so that stubs of cobra.v1 that a program
has beside them do not collide.

The same sources give the same bytes: files are in order of their names and have one time stamp,
SOURCE_DATE_EPOCH or the first of 1980.
"""
import base64
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import zipfile

import portable_programs
import source_distribution

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NAME = "cobra-latency"
FILE_NAME = "cobra_latency"


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
PURE = ["py3-none-any"]
# Of the wheel with programs only: the other one must not hide a cobra-server of this machine.
ENTRY_POINTS = """[console_scripts]
cobra-server = cobra_latency.programs:server
cobra-worker = cobra_latency.programs:worker
"""
# pip removes a folder with all that is in it only if the folder itself has a file.
SHARE = f"What cobra-client reads: weights, data sheets, runners. Of the Python package {NAME} {VERSION}.\n"
# Of the source distribution: the repository's own is for pre-commit.
PROJECT = """[build-system]
requires = []
build-backend = "build_backend"
backend-path = ["client/python"]
"""
EARLIEST = 315532800  # of 1980: zip knows no time before


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
    generated = os.path.join(ROOT, *source_distribution.GENERATED.split("/"), "_proto")
    if os.path.exists(generated):
        shutil.copytree(generated, os.path.join(folder, "cobra_latency", "_proto"), dirs_exist_ok=True)
        return
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
    programs = _programs(config_settings)
    if programs is not None and programs.version != VERSION:
        raise ValueError(f"programs={programs.version}: are of another version than this package, {VERSION}")
    tags = programs.tags() if programs else PURE
    # "py3-none-a.b.c" stands for three tags.
    platforms = ".".join(tag.rpartition("-")[2] for tag in tags)
    wheel = f"{FILE_NAME}-{VERSION}-py3-none-{platforms}.whl"
    contents = _package()
    if programs:
        contents[f"{FILE_NAME}-{VERSION}.data/scripts/cobra-client"] = programs.executable
        contents[f"{FILE_NAME}-{VERSION}.data/data/share/cobra/README"] = SHARE.encode()
        for path, data in programs.data().items():
            contents[f"{FILE_NAME}-{VERSION}.data/data/{path}"] = data
        for path, data in programs.licences().items():
            contents[f"{FILE_NAME}-{VERSION}.dist-info/licenses/{path}"] = data
    _add_information(contents, tags)
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, time.gmtime(_time())[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever it is built: pip reads modes
            entry.external_attr = (stat.S_IFREG | (0o755 if ".data/scripts/" in path else 0o644)) << 16
            archive.writestr(entry, data)
    return wheel


def _programs(config_settings):
    """What a wheel is to carry; None for no programs."""
    settings = dict(config_settings or {})
    wanted = settings.pop("programs", "no")
    if settings:
        raise ValueError(f"{', '.join(settings)}: is not a setting; programs=yes, programs=no, programs=PATH")
    if wanted == "no":
        return None
    return portable_programs.read(source_distribution.build_programs(ROOT) if wanted == "yes" else wanted)


def _package():
    """The files of the package: path -> bytes."""
    contents = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in stage(folder):
            with open(os.path.join(folder, path), "rb") as file:
                contents[path.replace(os.sep, "/")] = file.read()
    return contents


def _metadata():
    return (METADATA + read("client", "python", "README.md")).encode()


def _add_information(contents, tags):
    """The wheel's own description, and the list of all its files as the last of them."""
    info = f"{FILE_NAME}-{VERSION}.dist-info"
    contents[f"{info}/METADATA"] = _metadata()
    head = f"Wheel-Version: 1.0\nGenerator: cobra-latency\nRoot-Is-Purelib: {str(tags == PURE).lower()}\n"
    contents[f"{info}/WHEEL"] = (head + "".join(f"Tag: {tag}\n" for tag in tags)).encode()
    contents[f"{info}/LICENSE"] = read("LICENSE").encode()
    if tags != PURE:
        contents[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    record = ""
    for path, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    contents[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()


def _time():
    return max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", EARLIEST)))


def get_requires_for_build_wheel(config_settings=None):
    """The hook of PEP 517: nothing from an index is needed."""
    return []


def build_sdist(sdist_directory, config_settings=None):
    """The hook of PEP 517."""
    contents = source_distribution.contents(ROOT)
    for path, data in _package().items():
        if path.startswith("cobra_latency/_proto/"):
            contents[source_distribution.GENERATED + path.partition("/")[2]] = (data, False)
    contents[source_distribution.METADATA] = (_metadata(), False)
    contents["pyproject.toml"] = (PROJECT.encode(), False)
    name = f"{FILE_NAME}-{VERSION}"
    source_distribution.write(os.path.join(sdist_directory, name + ".tar.gz"), name, contents, _time())
    return name + ".tar.gz"


def main(arguments):
    *options, folder = arguments or ["--help"]
    if folder.startswith("-"):
        sys.exit(__doc__)
    os.makedirs(folder, exist_ok=True)
    if options == ["--stage"]:
        stage(folder)
    elif options == ["--sdist"]:
        print(build_sdist(folder))
    elif options[:1] == ["--portable"] and len(options) == 2:
        print(build_wheel(folder, {"programs": options[1]}))
    elif not options:
        print(build_wheel(folder))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ValueError as error:
        sys.exit(str(error))
