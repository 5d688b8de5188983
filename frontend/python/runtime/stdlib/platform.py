# The machine is one on which PyTorch is compared with what is read here; which one it is, no
# program can ask.
import _cobra
import sys


def system():
    return "Linux"


def machine():
    return "x86_64"


processor = machine


def architecture(*args, **kwargs):
    return "64bit", "ELF"


def python_implementation():
    return "CPython"


def python_version():
    return ".".join(python_version_tuple())


def python_version_tuple():
    return tuple(str(part) for part in sys.version_info[:3])


def python_branch():
    return ""


python_revision = python_branch


def python_compiler():
    return "GCC 12.2.0"


def python_build():
    return "main", ""


def mac_ver(*args, **kwargs):
    return "", ("", "", ""), ""


def win32_ver(*args, **kwargs):
    return "", "", "", ""


def win32_edition():
    return None


def win32_is_iot():
    return False


def java_ver(*args, **kwargs):
    return "", "", ("", "", ""), ("", "", "")


def node():
    _cobra.unsupported("the name or release of the machine (platform)")


def platform(*args, **kwargs):
    return node()


def libc_ver(*args, **kwargs):
    return "glibc", "2.36"


def release():
    return "6.1.0-amd64"


version = uname = freedesktop_os_release = platform
