import importlib
import os

import _cobra


def get_data(package, resource):
    path = getattr(importlib.import_module(package), "__file__", None)
    if path is None:
        return None
    path = os.path.join(os.path.dirname(path), resource)
    data = _cobra.package_data(path)
    if data is None:
        raise FileNotFoundError(2, "No such file or directory", path)
    return data
