import abc


# What libraries derive from. Importing follows rules of its own here and asks no finder.
class Loader(abc.ABC):
    def create_module(self, spec):
        return None


class MetaPathFinder(abc.ABC):
    def invalidate_caches(self):
        pass


class PathEntryFinder(MetaPathFinder):
    pass


class InspectLoader(Loader):
    pass


class ExecutionLoader(InspectLoader):
    pass


class FileLoader(ExecutionLoader):
    pass


class SourceLoader(ExecutionLoader):
    pass
