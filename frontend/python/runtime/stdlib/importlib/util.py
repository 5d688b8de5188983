import os
import types

import _cobra


class _Spec:
    def __init__(self, name):
        self.name = name
        self.origin = None
        self.loader = None
        self.submodule_search_locations = None


def find_spec(name, package=None):
    return _Spec(name) if _cobra.find_module(name) else None


class _FileLoader:
    """Runs the text of a file as a module."""

    def __init__(self, name, path):
        self.name, self.path = name, path

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        with open(self.path, "rb") as file:
            text = file.read().decode()
        exec(compile(text, self.path, "exec"), module.__dict__)


def spec_from_file_location(name, location=None, *, loader=None, submodule_search_locations=None):
    location = os.fspath(location)
    if loader is None and not location.endswith(".py"):
        return None
    spec = _Spec(name)
    spec.origin, spec.loader = location, loader or _FileLoader(name, location)
    spec.has_location, spec.submodule_search_locations = True, submodule_search_locations
    return spec


def module_from_spec(spec):
    if spec.loader is None:
        _cobra.unsupported("importlib.util.module_from_spec() of a spec that find_spec() made")
    create = getattr(spec.loader, "create_module", None)
    module = create(spec) if create is not None else None
    if module is not None:
        return module
    module = types.ModuleType(spec.name)
    module.__file__, module.__spec__, module.__loader__ = spec.origin, spec, spec.loader
    module.__package__ = spec.name.rpartition(".")[0]
    if spec.submodule_search_locations is not None:
        module.__path__, module.__package__ = spec.submodule_search_locations, spec.name
    return module
