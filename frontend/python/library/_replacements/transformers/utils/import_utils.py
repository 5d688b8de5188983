# What transformers' files export: the library reads 45 MB of its own text, line by line, each time
# it is imported.
import os
import sys

import _cobra

__all__ = ["create_import_structure_from_path", "direct_transformers_import"]


# Of a whole copy of the library, so as not to take another installed one.
def direct_transformers_import(path, file="__init__.py"):
    return sys.modules["transformers"]


def _backends_of(module, has_torchvision_backend):
    from transformers.utils.import_utils import BASE_FILE_REQUIREMENTS

    text = "class Own(TorchvisionBackend):" if has_torchvision_backend else ""
    for applies, backends in BASE_FILE_REQUIREMENTS.items():
        # Releases before 5.5 go by the name alone.
        if applies(module, text) if applies.__code__.co_argcount == 2 else applies(module):
            return backends
    return ()


def create_import_structure_from_path(module_path):
    if os.path.isfile(module_path):
        module_path = os.path.dirname(module_path)
    module_path = str(module_path)
    structure = {}
    for module, exported, required, has_torchvision_backend in _cobra.exports(module_path):
        if module == "__init__" or module.startswith(("convert_", "modular_")):
            continue
        backends = _backends_of(module, has_torchvision_backend)
        for own, name in required:
            structure.setdefault(frozenset(own + backends), {}).setdefault(module, set()).add(name)
        decorated = {name for _, name in required}
        names = [name for name in exported if name not in decorated]
        if names:
            structure.setdefault(frozenset(backends), {}).setdefault(module, set()).update(names)
    for name in _cobra.list_folder(module_path):
        if name.endswith("/") and name != "__pycache__/":
            folder = name[:-1]
            structure[folder] = create_import_structure_from_path(os.path.join(module_path, folder))
    return structure
