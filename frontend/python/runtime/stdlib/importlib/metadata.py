import _cobra


class PackageNotFoundError(ModuleNotFoundError):
    pass


def version(name):
    if name == "torch":
        return _cobra.torch_version
    raise PackageNotFoundError(name)


def metadata(name):
    raise PackageNotFoundError(name)


distribution = metadata


def entry_points(**kwargs):
    return []
