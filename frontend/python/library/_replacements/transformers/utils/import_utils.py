# What transformers' files export: the library reads 45 MB of its own text, line by line, each time it is imported.
import os
import re
import sys

import _cobra

__all__ = ["create_import_structure_from_path", "direct_transformers_import"]


# Of a whole copy of the library, so as not to take another installed one.
def direct_transformers_import(path, file="__init__.py"):
    return sys.modules["transformers"]


def _required(text):
    """{backends: [objects]} of `@requires(backends=(...))` above classes and functions."""
    found = {}
    for part in text.split("\n@requires")[1:]:
        backends = re.findall(r"['\"]([^'\"]+)['\"]", part[: part.index(")")])
        named = re.search(r"^(?:class|def) (\w+)", part, re.MULTILINE)
        if named:
            found.setdefault(tuple(backends), []).append(named.group(1))
    return found


def _backends_of(module, text):
    from transformers.utils.import_utils import BASE_FILE_REQUIREMENTS

    for applies, backends in BASE_FILE_REQUIREMENTS.items():
        if applies(module, text):
            return backends
    return ()


def create_import_structure_from_path(module_path):
    if os.path.isfile(module_path):
        module_path = os.path.dirname(module_path)
    module_path = str(module_path)
    structure = {}
    for module, exported, text in _cobra.exports(module_path, ("@requires", "image_processing_")):
        if module == "__init__" or module.startswith(("convert_", "modular_")):
            continue
        backends = _backends_of(module, text)
        decorated = set()
        for own, names in _required(text).items() if "@requires" in text else ():
            structure.setdefault(frozenset(own + backends), {}).setdefault(module, set()).update(names)
            decorated.update(names)
        names = [name for name in exported if name not in decorated]
        if names:
            structure.setdefault(frozenset(backends), {}).setdefault(module, set()).update(names)
    for name in _cobra.list_folder(module_path):
        if name.endswith("/") and name != "__pycache__/":
            folder = name[:-1]
            structure[folder] = create_import_structure_from_path(os.path.join(module_path, folder))
    return structure
