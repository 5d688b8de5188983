"""What a question can be about, as a request."""
from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Mapping as MappingType
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Set, Tuple

from . import shapes
from ._proto import cobra_pb2 as pb
from ._proto import graph_pb2
from .errors import UsageError, carriable, carried, one_line

MOST_FILES = 4096
_FORWARD_ONLY = " (in training, forward only)"


class Source(NamedTuple):
    """A model as PyTorch source, which the server reads; nothing of it runs here.

    `path`: a file; its imports from its own folder are sent with it, those of installed packages
    are looked up in the server's libraries. A file of an installed package may be named by its path
    there ("torchvision/models/resnet.py"). `entry`: an expression whose value is the model.
    `arguments`: what is not a tensor, as Python expressions. `torch_version`: the newest known, or
    that of the target's runtime, if empty. `cached_tokens`: more than 0 is one step of a decoder
    after so many tokens, with what it keeps of them as further inputs.
    """

    path: str
    entry: str
    method: str = "forward"
    arguments: Mapping[str, str] = {}
    torch_version: str = ""
    mode: str = "eval"
    cached_tokens: int = 0


class Architecture(NamedTuple):
    """A network of a search space: "nasbench201:|nor_conv_3x3~0|+..."."""

    text: str


def name_of(model: Any) -> str:
    """How a model is called in tables."""
    if isinstance(model, Source):
        return model.entry + (_FORWARD_ONLY if model.mode == "train" else "")
    if isinstance(model, Architecture) or isinstance(model, str) and _is_architecture(model):
        text = model if isinstance(model, str) else model.text
        return text if len(text) <= 40 else text[:37] + "..."
    if isinstance(model, (str, os.PathLike)):
        return os.path.basename(os.fsdecode(model))
    if isinstance(model, graph_pb2.Graph):
        return "graph"
    return type(model).__name__ + (_FORWARD_ONLY if _is_module(model) and model.training else "")


def request_of(model: Any, inputs: Any, method: str = "forward", mode: Optional[str] = None) -> pb.PredictRequest:
    """A request without targets. `model`: a torch.nn.Module, Source, Architecture, the path of an
    .onnx, .tflite or .param file, a graph, or an architecture as text."""
    if isinstance(model, graph_pb2.Graph):
        return pb.PredictRequest(graph=model)
    if isinstance(model, Source):
        return pb.PredictRequest(source=_source(model, inputs))
    if isinstance(model, (str, os.PathLike)) and not _is_architecture(os.fsdecode(model)):
        return _file(os.fsdecode(model), inputs)
    if isinstance(model, (str, Architecture)):
        text = model if isinstance(model, str) else model.text
        texts = [] if inputs is None else shapes.texts(inputs)
        return pb.PredictRequest(architecture=pb.Architecture(text=carried(text, "architecture"), inputs=texts))
    if _is_module(model):
        return pb.PredictRequest(graph=graph_of(model, inputs, method))
    raise UsageError(
        f"{model!r}: is not a model",
        "give a torch.nn.Module, Source(path, entry), Architecture(text), or the path of an .onnx, .tflite or .param file",
    )


def graph_of(model: Any, inputs: Any, method: str = "forward") -> graph_pb2.Graph:
    """The graph of a live torch.nn.Module, made on this machine without its weights: what
    Client.predict() sends.

    Inference, unless the module is in training mode (model.train()). Raises ModelError with the
    user's file and line."""
    if not _is_module(model):
        raise UsageError(f"{type(model).__name__}: is not a torch.nn.Module", "graph_of() takes live modules")
    if inputs is None:
        raise UsageError(f"{type(model).__name__}: has no inputs", "give their shapes: inputs='1x3x224x224'")
    from .live.take import take

    positional, keywords = shapes.arguments(inputs)
    return take(model, positional, keywords, method)


def takes_time(model: Any) -> bool:
    """Whether making the request takes longer than asking: a live module is run."""
    return _is_module(model)


def _is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")  # whoever has a module has imported it
    return torch is not None and isinstance(model, torch.nn.Module)


def _is_architecture(text: str) -> bool:
    return bool(re.match(r"[a-z0-9-]+(,[a-z_]+=[^:]*)?:", text)) and not os.path.exists(text)


def _file(path: str, inputs: Any) -> pb.PredictRequest:
    texts = [] if inputs is None else shapes.texts(inputs)
    extension = os.path.splitext(path)[1]
    written = one_line(path)
    if extension == ".py":
        raise UsageError(f"{written}: has no entry", f"say what the model is: Source({path!r}, entry='Net()')")
    if extension not in (".onnx", ".tflite", ".param"):
        raise UsageError(
            f"{written}: is not a model file",
            "known are .onnx, .tflite, ncnn's .param, and Source(path, entry) for .py",
        )
    data, name = _read(path), carriable(os.path.basename(path))
    if extension == ".onnx":
        return pb.PredictRequest(onnx=pb.OnnxModel(file=data, name=name, inputs=texts))
    if extension == ".tflite":
        return pb.PredictRequest(tflite=pb.TfliteModel(file=data, name=name, inputs=texts))
    return pb.PredictRequest(ncnn=pb.NcnnModel(param=data, name=name, inputs=texts))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise UsageError(f"{one_line(path)}: {error.strerror}", "check the path") from None
    except ValueError as error:  # a path with a null character
        raise UsageError(f"{one_line(path)}: {error}", "check the path") from None


def _source(model: Source, inputs: Any) -> pb.SourceModel:
    tensors, others = _without_numbers(inputs)
    message = pb.SourceModel(
        entry=carried(model.entry, "entry"),
        method=carried(model.method, "method"),
        inputs=shapes.texts(tensors),
        torch_version=carried(model.torch_version, "torch_version"),
        mode=carried(model.mode, "mode"),
        arguments=[_argument(name, text) for name, text in {**others, **model.arguments}.items()],
    )
    if not isinstance(model.cached_tokens, int) or not 0 <= model.cached_tokens < 2**63:
        raise UsageError(
            f"cached_tokens={model.cached_tokens!r}: is not a count",
            "give how many tokens came before",
        )
    message.cached_tokens = model.cached_tokens
    if not isinstance(model.path, (str, os.PathLike)):
        raise UsageError(f"path={model.path!r}: is not a path", "write Source('net.py', entry='Net()')")
    path = os.fsdecode(model.path)
    library = _library_path(path)
    if library is not None:
        message.file = carried(library, "path")
        return message
    root = os.path.dirname(os.path.abspath(path))
    while os.path.exists(os.path.join(root, "__init__.py")):  # a module of a package: its relative imports lead upwards
        root = os.path.dirname(root)
    file = os.path.relpath(path, root).replace(os.sep, "/")
    message.file = carried(file, "path")
    files = _bundle(root, file)
    message.files.extend(pb.SourceFile(path=path, text=files[path]) for path in sorted(files))
    return message


def _without_numbers(inputs: Any) -> Tuple[Any, Dict[str, str]]:
    """The inputs that are tensors, and the others, which have names, as expressions."""
    if not isinstance(inputs, MappingType):
        return inputs, {}
    read = {name: shapes.shape_of(value) for name, value in inputs.items()}
    others = {name: repr(value) for name, value in read.items() if isinstance(value, (bool, int, float, str))}
    return {name: value for name, value in read.items() if name not in others}, others


def _argument(name: Any, text: Any) -> pb.SourceArgument:
    if not isinstance(text, str):
        raise UsageError(f"arguments: {name}={text!r}: is not text", f"write the expression: {str(text)!r}")
    return pb.SourceArgument(name=carried(name, "arguments"), expression=carried(text, f"arguments: {name}"))


def _library_path(path: str) -> Optional[str]:
    """The path of a file of an installed package inside of its library, which is what the server's
    libraries are asked for."""
    if not os.path.exists(path):
        return path if not os.path.isabs(path) and os.sep in path else None
    parts = os.path.abspath(path).split(os.sep)
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            return "/".join(parts[parts.index(folder) + 1 :])
    return None


def _bundle(folder: str, file: str) -> Dict[str, bytes]:
    """The file, and what it imports from the folder."""
    files: Dict[str, bytes] = {}
    wanted = [file]
    while wanted and len(files) < MOST_FILES:
        name = wanted.pop()
        if name not in files:
            files[name] = _read(os.path.join(folder, name))
            wanted += _imported(files[name], name, folder)
    return files


_IMPORT = re.compile(rb"^.*\bimport\b.*$", re.M)
_SIMPLE_IMPORT = re.compile(
    rb"[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+|import[ \t]+)(\w[\w.]*(?: as \w+)?(?:, ?\w[\w.]*(?: as \w+)?)*)[ \t]*(?:#.*)?"
)


def _imported(text: bytes, name: str, folder: str) -> List[str]:
    """The files below the folder that a file's import statements may mean, and the packages that
    they are in."""
    # Parsing takes longer than all else. Most networks import nothing of their folder.
    lines = _lines_that_import(text)
    if lines is not None and not _existing(lines, name, folder):
        return []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # the server says so, with the place
    statements: List[_Import] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            statements.append(_Import(None, 0, [alias.name for alias in node.names]))
        elif isinstance(node, ast.ImportFrom):
            statements.append(_Import(node.module or "", node.level, [alias.name for alias in node.names]))
    return _existing(statements, name, folder)


class _Import(NamedTuple):
    """`import a, b.c` has no `module`; the level of `from ..a import b` is 2."""

    module: Optional[str]
    level: int
    names: List[str]


def _lines_that_import(text: bytes) -> Optional[List[_Import]]:
    """All import statements, and lines of texts that look like one. None where there may be others:
    statements of several lines, several in a line, letters that Python reads as others.

    >>> _lines_that_import(b"import a.b as c, d\\nfrom .e import f")
    [_Import(module=None, level=0, names=['a.b', 'd']), _Import(module='e', level=1, names=['f'])]
    >>> _lines_that_import(b"x = 1; import a")
    """
    if not text.isascii() or b"\\" in text or b"\r" in text or b"\f" in text:
        return None
    found = []
    for line in _IMPORT.findall(text):
        match = _SIMPLE_IMPORT.fullmatch(line)
        if match is None:
            return None
        names = [part.split()[0] for part in match[2].decode().split(",")]
        if match[1] is None:
            found.append(_Import(None, 0, names))
        else:
            module = match[1].decode()
            found.append(_Import(module.lstrip("."), len(module) - len(module.lstrip(".")), names))
    return found


def _existing(statements: List[_Import], name: str, folder: str) -> List[str]:
    """The files that they may mean, as far as they exist."""
    modules: Set[str] = set()
    package = os.path.dirname(name).replace(os.sep, ".")
    for of, level, names in statements:
        if of is None:
            modules.update(names)
            continue
        parts = package.split(".") if package else []
        base = parts[: len(parts) - level + 1] if level else []
        module = ".".join([*base, *([of] if of else [])])
        modules.update([module, *(f"{module}.{one}" if module else one for one in names)])
    found: Dict[str, bool] = {}
    folders: Dict[str, bool] = {}
    for module in modules:
        prefix = ""
        for part in filter(None, module.split(".")):
            prefix = f"{prefix}{os.sep}{part}" if prefix else part
            inside = f"{prefix}{os.sep}__init__.py"
            if prefix not in folders:
                path = f"{folder}{os.sep}{prefix}"
                folders[prefix] = os.path.isdir(path)
                found[prefix + ".py"] = os.path.isfile(path + ".py")
                found[inside] = folders[prefix] and os.path.isfile(f"{folder}{os.sep}{inside}")
            if not folders[prefix]:
                break
    return [file for file, exists in found.items() if exists]
