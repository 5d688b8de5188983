# Whether tools beside the model have the wanted versions is no matter of the model.
__all__ = ["require_version", "require_version_core"]


def require_version(requirement, hint=None):
    pass


def require_version_core(requirement):
    pass
