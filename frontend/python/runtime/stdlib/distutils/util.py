import _cobra


def strtobool(val):
    val = val.lower()
    if val in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if val in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError("invalid truth value %r" % (val,))


def get_platform():
    return "linux-x86_64"


get_host_platform = get_platform


def convert_path(pathname):
    return pathname


def execute(*args, **kwargs):
    _cobra.unsupported("distutils.util.execute()")
