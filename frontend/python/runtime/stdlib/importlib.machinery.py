# Looking for compiled modules finds none: nothing but source is loaded here.
SOURCE_SUFFIXES = ['.py']
BYTECODE_SUFFIXES = ['.pyc']
EXTENSION_SUFFIXES = ['.so']


def all_suffixes():
    return SOURCE_SUFFIXES + BYTECODE_SUFFIXES + EXTENSION_SUFFIXES


class ExtensionFileLoader:
    def __init__(self, name, path):
        self.name = name
        self.path = path


class SourceFileLoader(ExtensionFileLoader):
    pass


class FileFinder:
    def __init__(self, path, *loader_details):
        self.path = path

    def find_spec(self, fullname, target=None):
        return None
