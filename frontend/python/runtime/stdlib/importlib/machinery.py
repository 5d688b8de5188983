# A package that looks for its compiled part finds it, unread: torch.ops knows the operators that
# matter.
import _cobra

SOURCE_SUFFIXES = [".py"]
BYTECODE_SUFFIXES = [".pyc"]
EXTENSION_SUFFIXES = [".so"]


def all_suffixes():
    return SOURCE_SUFFIXES + BYTECODE_SUFFIXES + EXTENSION_SUFFIXES


class ExtensionFileLoader:
    def __init__(self, name, path):
        self.name = name
        self.path = path


class SourceFileLoader(ExtensionFileLoader):
    pass


class ModuleSpec:
    def __init__(self, name, loader, *, origin=None, loader_state=None, is_package=None):
        self.name = name
        self.loader = loader
        self.origin = origin
        self.loader_state = loader_state
        self.submodule_search_locations = [] if is_package else None
        self.cached, self.has_location = None, False

    @property
    def parent(self):
        return self.name.rpartition(".")[0] if self.submodule_search_locations is None else self.name


class FileFinder:
    def __init__(self, path, *loader_details):
        self.path = path

    def find_spec(self, fullname, target=None):
        return ModuleSpec(fullname, None, origin=self.path + "/" + fullname + ".so")


# A library may keep these finders, or derive from one; what they find is asked nowhere.
_names = "BuiltinImporter FrozenImporter NamespaceLoader PathFinder SourcelessFileLoader WindowsRegistryFinder"
for _name in _names.split():
    globals()[_name] = _cobra.inert("importlib.machinery." + _name)
DEBUG_BYTECODE_SUFFIXES = OPTIMIZED_BYTECODE_SUFFIXES = BYTECODE_SUFFIXES
