import _cobra
from os import path

name = 'posix'
sep = '/'
altsep = None
extsep = '.'
pathsep = ':'
linesep = '\n'
curdir = '.'
pardir = '..'
devnull = '/dev/null'
environ = {}


def getenv(key, default=None):
    return environ.get(key, default)


def fspath(p):
    if isinstance(p, (str, bytes)):
        return p
    return type(p).__fspath__(p)


def getcwd():
    return '/'


def cpu_count():
    return 1


def getpid():
    return 1


class PathLike:
    @classmethod
    def __class_getitem__(cls, item):
        return cls


def urandom(n):
    _cobra.unsupported('os.urandom()')


def listdir(p='.'):
    _cobra.unsupported('os.listdir()')


def makedirs(name, mode=0o777, exist_ok=False):
    _cobra.unsupported('os.makedirs()')


walk = scandir = listdir
mkdir = remove = unlink = rename = replace = rmdir = system = makedirs

