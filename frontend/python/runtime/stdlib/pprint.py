# In one line: who reads what is printed, reads it elsewhere.
def pformat(object, *args, **kwargs):
    return repr(object)


def pprint(object, stream=None, *args, **kwargs):
    print(repr(object), file=stream)


pp = pprint
saferepr = pformat


def isreadable(object):
    return True


def isrecursive(object):
    return False


class PrettyPrinter:
    def __init__(
        self, indent=1, width=80, depth=None, stream=None, *, compact=False, sort_dicts=True, underscore_numbers=False
    ):
        self._stream = stream

    def pprint(self, object):
        pprint(object, self._stream)

    def pformat(self, object):
        return pformat(object)

    def isreadable(self, object):
        return True

    def isrecursive(self, object):
        return False

    def format(self, object, context, maxlevels, level):
        return repr(object), True, False
