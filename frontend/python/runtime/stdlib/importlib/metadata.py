import re

import _cobra


class PackageNotFoundError(ModuleNotFoundError):
    pass


def _normal(name):
    return re.sub(r"[-_.]+", "_", name).lower()


_versions = None


# Of what is installed in the libraries' folders: NAME-VERSION.dist-info.
def version(name):
    global _versions
    if name == "torch":
        return _cobra.torch_version
    if _versions is None:
        _versions = {}
        for folder in _cobra.library_folders():
            for entry in _cobra.list_folder(folder + "/") or ():
                if entry.endswith((".dist-info/", ".egg-info/")):
                    package, _, number = entry[:-11].partition("-")
                    _versions.setdefault(_normal(package), number.partition("-")[0])
    if _normal(name) not in _versions:
        raise PackageNotFoundError(name)
    return _versions[_normal(name)]


class PackageMetadata(dict):
    """The fields of METADATA; of those that are there several times, `get_all` has all."""

    def __init__(self, text):
        self._all = {}
        for line in text.partition("\n\n")[0].split("\n"):
            field, colon, value = line.partition(": ")
            if colon and not line.startswith((" ", "\t")):
                self._all.setdefault(field, []).append(value)
        super().__init__({field: values[0] for field, values in self._all.items()})

    def __missing__(self, field):
        return None

    def get_all(self, field, failobj=None):
        return self._all.get(field, failobj)


class Distribution:
    """A package that is installed in a library's folder."""

    def __init__(self, root, folder):
        self._root, self._folder = root, folder

    @classmethod
    def from_name(cls, name):
        return distribution(name)

    def read_text(self, filename):
        data = _cobra.read_data(f"{self._root}/{self._folder}/{filename}")
        return None if data is None else data.decode()

    def locate_file(self, path):
        import pathlib

        return pathlib.Path(self._root) / path

    @property
    def metadata(self):
        return PackageMetadata(self.read_text("METADATA") or self.read_text("PKG-INFO") or "")

    @property
    def name(self):
        return self.metadata["Name"]

    @property
    def version(self):
        return self.metadata["Version"]

    @property
    def requires(self):
        return self.metadata.get_all("Requires-Dist")

    entry_points = ()
    files = None


def distribution(distribution_name):
    for root in _cobra.library_folders():
        for entry in _cobra.list_folder(root + "/") or ():
            if not entry.endswith((".dist-info/", ".egg-info/")):
                continue
            if _normal(entry[:-11].partition("-")[0]) == _normal(distribution_name):
                return Distribution(root, entry[:-1])
    raise PackageNotFoundError(distribution_name)


def metadata(distribution_name):
    return distribution(distribution_name).metadata


def requires(distribution_name):
    return distribution(distribution_name).requires


class EntryPoints(tuple):
    # No package offers any here.
    names = groups = frozenset()

    def select(self, **params):
        return self


def entry_points(**params):
    return EntryPoints()


def packages_distributions():
    return {}
