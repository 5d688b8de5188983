# The files of a package are files of its folder: nothing is unpacked, and nothing is ever in an
# archive.
import importlib
import os
import pathlib
from contextlib import contextmanager

Package = object
Resource = str


def _folder(package):
    module = importlib.import_module(package) if isinstance(package, str) else package
    path = getattr(module, "__path__", None)
    if path is None:
        file = getattr(module, "__file__", None)
        if file is None:
            raise TypeError(f"{module.__name__!r} is not a package")
        return pathlib.Path(os.path.dirname(file))
    return pathlib.Path(list(path)[0] or ".")


def files(package):
    return _folder(package)


@contextmanager
def as_file(path):
    yield path


def _resource(package, resource):
    name = str(resource)
    if os.path.basename(name) != name:
        raise ValueError(f"{resource!r} must be only a file name")
    return _folder(package) / name


def open_binary(package, resource):
    return _resource(package, resource).open("rb")


def open_text(package, resource, encoding="utf-8", errors="strict"):
    return _resource(package, resource).open("r", -1, encoding, errors)


def read_binary(package, resource):
    return _resource(package, resource).read_bytes()


def read_text(package, resource, encoding="utf-8", errors="strict"):
    return _resource(package, resource).read_text(encoding, errors)


def path(package, resource):
    return as_file(_resource(package, resource))


def is_resource(package, name):
    return _resource(package, name).is_file()


def contents(package):
    return iter([entry.name for entry in _folder(package).iterdir()])
