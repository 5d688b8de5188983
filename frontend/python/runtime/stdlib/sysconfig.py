import _cobra
import sys

_SHORT = "3.%d" % sys.version_info[1]
_TAG = _SHORT.replace(".", "")
_VARIABLES = {
    "EXT_SUFFIX": f".cpython-{_TAG}-x86_64-linux-gnu.so",
    "SOABI": f"cpython-{_TAG}-x86_64-linux-gnu",
    "Py_GIL_DISABLED": None,
    "Py_DEBUG": 0,
    "py_version": "%d.%d.%d" % sys.version_info[:3],
    "py_version_short": _SHORT,
    "py_version_nodot": _TAG,
    "abiflags": "",
}


def get_platform():
    return "linux-x86_64"


def get_python_version():
    return _SHORT


def get_config_var(name):
    if name not in _VARIABLES:
        _cobra.unsupported(f"sysconfig.get_config_var({name!r})")
    return _VARIABLES[name]


def get_config_vars(*names):
    if not names:
        _cobra.unsupported("sysconfig.get_config_vars()")
    return [get_config_var(name) for name in names]


def get_scheme_names():
    return "posix_home", "posix_prefix", "posix_user", "posix_venv", "venv"


def get_default_scheme():
    return "posix_prefix"


def get_preferred_scheme(key):
    return "posix_home" if key == "home" else "posix_user" if key == "user" else "posix_prefix"


def get_path_names():
    return "stdlib", "platstdlib", "purelib", "platlib", "include", "scripts", "data"


def get_paths(scheme="posix_prefix", vars=None, expand=True):
    lib = "/usr/lib/python" + _SHORT
    site = lib + "/site-packages"
    folders = (lib, lib, site, site, "/usr/include/python" + _SHORT, "/usr/bin", "/usr")
    return dict(zip(get_path_names(), folders))


def get_path(name, scheme="posix_prefix", vars=None, expand=True):
    return get_paths()[name]


def is_python_build(*args):
    return False
