#!/usr/bin/python3
"""Ways in which releases of transformers from 4.40 on are written, in a small library of that name.
Parts of it have a counterpart of ours (frontend/python/library/_replacements), which must answer as
the release does whose part it stands for; its cache is a module in some, and a folder is made when
it is imported."""
import json
import os
import subprocess
import sys
import tempfile

BIN = os.environ.get("COBRA_BIN", "build/release/bin")
OWN_PART = "def create_import_structure_from_path(module_path):\n    raise NotImplementedError\n"
# What a file needs goes by its name, from 5.5 on by its text, too.
BY_NAME = 'BASE_FILE_REQUIREMENTS = {lambda e: "modeling_" in e: ("torch",)}\n'
BY_TEXT = (
    'BASE_FILE_REQUIREMENTS = {\n    lambda name, content: "modeling_" in name: ("torch",),\n'
    '    lambda name, content: "image_" in name and "TorchvisionBackend" in content: ("torchvision",),\n}\n'
)
FILES = {
    "modeling_tiny": '__all__ = ["TinyModel"]\n',
    "modular_tiny": '__all__ = ["TinyModel"]\n',
    "configuration_tiny": '\n__all__ = [\n    "TinyConfig",\n]\n',
    "image_tiny": '\nclass TinyImages(TorchvisionBackend):\n    pass\n\n__all__ = ["TinyImages"]\n',
    "tokenization_tiny": '\n@MARK(backends=("sentencepiece",))\nclass TinyTokenizer:\n    pass\n\n__all__ = ["TinyTokenizer"]\n',
}
MODELING_UTILS = """
class PreTrainedModel:
    @classmethod
    def _can_set_attn_implementation(cls):
        return "as in this release"
"""
MODEL = """
import os
import torch
import transformers
from transformers.modeling_utils import PreTrainedModel
from transformers.utils.import_utils import create_import_structure_from_path


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        found = create_import_structure_from_path(os.path.join(os.path.dirname(transformers.__file__), "models", "tiny"))
        needs = {name: sorted(kinds) for kinds, files in found.items() for names in files.values() for name in names}
        modules = sorted(module for files in found.values() for module in files)
        assert (needs, modules, PreTrainedModel._can_set_attn_implementation()) == WANTED, (needs, modules)
        self.layer = torch.nn.Linear(3, 5)

    def forward(self, x):
        return self.layer(x)
"""

# Releases up to 4.45 make a folder for what they fetch, and go on where that may not be written.
HUB = """
import os
folder = os.path.join(os.path.expanduser("~"), ".cache", "tiny")
try:
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "version.txt"), "w") as file:
        file.write("1")
except Exception:
    pass
WIDTH = 5
"""
CACHE = """
import torch
from transformers.hub import WIDTH


class Cache(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.keys, self.values = [], []


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, WIDTH)

    def forward(self, x, past_key_values=None, use_cache=True):
        cache = Cache() if past_key_values is None else past_key_values
        y = self.layer(x)
        if cache.keys:
            y = torch.cat([cache.keys.pop(), y], 1)
        cache.keys.append(y * 2)
        cache.values.append(y.sum(-1))
        return {"last": y + 1, "past_key_values": cache, "layer": self.layer}
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def read(*arguments):
    return json.loads(subprocess.run([BIN + "/read_model", *arguments], capture_output=True, text=True).stdout)


def failure(folder, version, requirements, mark, wanted):
    """Why the model was not read; None if it was."""
    library = os.path.join(folder, version, "library")
    files = {name + ".py": text.replace("MARK", mark) for name, text in FILES.items()}
    write(library + "/transformers/__init__.py", f'__version__ = "{version}"\n')
    write(library + "/transformers/modeling_utils.py", MODELING_UTILS)
    write(library + "/transformers/utils/__init__.py", "")
    write(library + "/transformers/utils/import_utils.py", requirements + OWN_PART)
    for name, text in {"__init__.py": "", **files}.items():
        write(library + "/transformers/models/tiny/" + name, text)
    model = os.path.join(folder, version, "model.py")
    write(model, f"WANTED = {wanted!r}\n" + MODEL)
    answer = read(model, "Net()", "1x3", "--library", library)
    return answer.get("error") or (None if answer["params"] == 20 else answer["params"])


def cache_failure(folder):
    """The tensors of a cache are outputs, and inputs of the next token, also where it is a module;
    those of a layer are not."""
    library, model = folder + "/cache/library", folder + "/cache/model.py"
    write(library + "/transformers/__init__.py", "")
    write(library + "/transformers/hub.py", HUB)
    write(model, CACHE)
    for tokens, calls, sizes in (([], 4, 3), (["--cached-tokens", "7"], 5, 4)):
        answer = read(model, "Net()", "x=1x1x3", "--library", library, *tokens)
        if "error" in answer:
            return answer["error"]
        if len(answer["ops"]) != calls or len(answer["output"]) != sizes:
            return f"{len(answer['ops'])} calls, {len(answer['output'])} outputs"
    return None


def writing_failure(folder):
    """A program whose handler does not fit is refused: Python would have written."""
    model = folder + "/writing/model.py"
    write(
        model,
        "try:\n    open('made', 'w')\nexcept KeyError:\n    pass\n"
        + CACHE.replace("WIDTH)", "5)").replace("from transformers.hub import WIDTH", ""),
    )
    error = read(model, "Net()", "x=1x1x3").get("error", "it was read")
    return None if "error: writing files is not supported" in error else error


def main():
    needs = {"TinyModel": ["torch"], "TinyConfig": [], "TinyImages": [], "TinyTokenizer": ["sentencepiece"]}
    modules = ["configuration_tiny", "image_tiny", "modeling_tiny", "tokenization_tiny"]
    later = {**needs, "TinyImages": ["torchvision"]}
    cases = [
        ("4.45.2", BY_NAME, "export", (needs, modules, "as in this release")),
        ("5.1.0", BY_NAME, "requires", (needs, modules, "as in this release")),
        ("5.10.4", BY_TEXT, "requires", (later, modules, "as in this release")),
        ("5.24.0", BY_TEXT, "requires", (later, modules, True)),  # the module has no attention of its own
    ]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            why = failure(folder, *case)
            if why is not None:
                failed += 1
                print(f"{case[0]}: {why}")
        for other in (cache_failure, writing_failure):
            why = other(folder)
            if why is not None:
                failed += 1
                print(f"{other.__name__}: {why}")
    print(f"{len(cases) + 2 - failed} of {len(cases) + 2} ways")
    return 1 if failed else 0


sys.exit(main())
