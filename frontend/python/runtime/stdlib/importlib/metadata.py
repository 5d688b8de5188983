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


def metadata(name):
    raise PackageNotFoundError(name)


distribution = metadata


class EntryPoints(tuple):
    # No package offers any here.
    names = groups = frozenset()

    def select(self, **params):
        return self


def entry_points(**params):
    return EntryPoints()


def packages_distributions():
    return {}
