import re
from packaging.version import InvalidVersion, Version


class InvalidName(ValueError):
    pass


NormalizedName = str


def canonicalize_name(name, *, validate=False):
    if validate and not re.fullmatch(r"[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]", name):
        raise InvalidName(f"name is invalid: {name!r}")
    return re.sub(r"[-_.]+", "-", name).lower()


def is_normalized_name(name):
    return re.fullmatch(r"[a-z0-9]|[a-z0-9]([a-z0-9-](?!--))*[a-z0-9]", name) is not None


def canonicalize_version(version, *, strip_trailing_zero=True):
    if isinstance(version, str):
        try:
            version = Version(version)
        except InvalidVersion:
            return version
    text = str(version)
    if not strip_trailing_zero:
        return text
    release = ".".join(str(n) for n in version.release)
    short = re.sub(r"(\.0)+$", "", release)
    return text.replace(release, short, 1)
