# The part of inspect about frames, and the flags of code.
from collections import namedtuple

CO_OPTIMIZED, CO_NEWLOCALS, CO_VARARGS, CO_VARKEYWORDS, CO_NESTED, CO_GENERATOR, CO_NOFREE = 1, 2, 4, 8, 16, 32, 64
CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR = 128, 256, 512
TPFLAGS_IS_ABSTRACT = 1 << 20
GEN_CREATED, GEN_RUNNING, GEN_SUSPENDED, GEN_CLOSED = "GEN_CREATED", "GEN_RUNNING", "GEN_SUSPENDED", "GEN_CLOSED"
CORO_CREATED, CORO_RUNNING, CORO_SUSPENDED, CORO_CLOSED = (
    "CORO_CREATED",
    "CORO_RUNNING",
    "CORO_SUSPENDED",
    "CORO_CLOSED",
)
ArgInfo = namedtuple("ArgInfo", "args varargs keywords locals")
Arguments = namedtuple("Arguments", "args, varargs, varkw")
Attribute = namedtuple("Attribute", "name kind defining_class object")
ClosureVars = namedtuple("ClosureVars", "nonlocals globals builtins unbound")


def getargvalues(frame):
    args, varargs, keywords = getargs(frame.f_code)
    return ArgInfo(args, varargs, keywords, frame.f_locals)


def getargs(co):
    names, count = list(co.co_varnames), co.co_argcount + co.co_kwonlyargcount
    rest = names[count:]
    varargs = rest.pop(0) if co.co_flags & CO_VARARGS else None
    return Arguments(names[:count], varargs, rest.pop(0) if co.co_flags & CO_VARKEYWORDS else None)


def getlineno(frame):
    return frame.f_lineno


def getclasstree(classes, unique=False):
    children = {}
    roots = []
    for c in classes:
        if c.__bases__:
            for parent in c.__bases__:
                if c not in children.setdefault(parent, []):
                    children[parent].append(c)
                if unique and parent in classes:
                    break
        elif c not in roots:
            roots.append(c)
    roots += [parent for parent in children if parent not in classes]
    return walktree(roots, children, None)


def walktree(classes, children, parent):
    results = []
    classes.sort(key=lambda c: (c.__module__, c.__name__))
    for c in classes:
        results.append((c, c.__bases__))
        if c in children:
            results.append(walktree(children[c], children, c))
    return results
