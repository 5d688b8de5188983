import _cobra


class _Spec:
    def __init__(self, name):
        self.name = name
        self.origin = None
        self.loader = None
        self.submodule_search_locations = None


def find_spec(name, package=None):
    return _Spec(name) if _cobra.find_module(name) else None


def module_from_spec(spec):
    _cobra.unsupported("importlib.util.module_from_spec()")


spec_from_file_location = module_from_spec
