import importlib
import os
from collections import namedtuple
from importlib.machinery import ModuleSpec

import _cobra

ModuleInfo = namedtuple("ModuleInfo", "module_finder name ispkg")


class _Loader:
    def create_module(self, spec):
        return importlib.import_module(spec.name)

    def exec_module(self, module):
        pass  # it has run when it was imported


class _Finder:
    def __init__(self, path):
        self.path = path

    def find_spec(self, fullname, target=None):
        return ModuleSpec(fullname, _Loader(), origin=self.path)


def get_data(package, resource):
    path = getattr(importlib.import_module(package), "__file__", None)
    if path is None:
        return None
    path = os.path.join(os.path.dirname(path), resource)
    data = _cobra.read_data(path)
    if data is None:
        raise FileNotFoundError(2, "No such file or directory", path)
    return data


def iter_modules(path=None, prefix=""):
    """The modules in the folders; the import path as a whole is not listed."""
    if path is None:
        _cobra.unsupported("pkgutil.iter_modules() without a path")
    if isinstance(path, str):
        raise ValueError("path must be None or list of paths to look for modules in")
    seen = set()
    for folder in path:
        for entry in sorted(_cobra.list_folder(os.fspath(folder)) or ()):
            is_package = entry.endswith("/")
            name = entry[:-1] if is_package else entry.removesuffix(".py")
            if name == entry or name == "__init__" or name in seen or "." in name:
                continue
            if is_package and not os.path.isfile(os.path.join(folder, name, "__init__.py")):
                continue
            seen.add(name)
            yield ModuleInfo(_Finder(folder), prefix + name, is_package)


def walk_packages(path=None, prefix="", onerror=None):
    for info in iter_modules(path, prefix):
        yield info
        if not info.ispkg:
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:
            if onerror is not None:
                onerror(info.name)
            continue
        except Exception:
            if onerror is None:
                raise
            onerror(info.name)
            continue
        yield from walk_packages(getattr(module, "__path__", None) or [], info.name + ".", onerror)


def extend_path(path, name):
    return list(path) if isinstance(path, list) else path


def resolve_name(name):
    module, _, attribute = name.partition(":")
    if not _:
        parts = module.split(".")
        value = importlib.import_module(parts.pop(0))
        done = value.__name__
        while parts:
            try:
                value = importlib.import_module(done + "." + parts[0])
            except ImportError:
                break
            done += "." + parts.pop(0)
        attribute = ".".join(parts)
    else:
        value = importlib.import_module(module)
    for part in attribute.split(".") if attribute else ():
        value = getattr(value, part)
    return value
