# What libraries that check types ask of code objects, frames and the types of hints.
import inspect
import types


def outer(a, /, b, c=1, *rest, d, e=2, **more):
    x = a
    return lambda: (x, b)


class Method:
    def method(self, value):
        return value


def generator():
    yield 1


for function in (outer, Method.method, Method().method, generator, lambda q: q):
    code = function.__code__
    print(isinstance(code, types.CodeType), type(code) is types.CodeType, type(code).__module__, code.co_name, code.co_qualname)
    print(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_varnames, code.co_nlocals, code.co_freevars, code.co_cellvars)
    print(bool(code.co_flags & inspect.CO_VARARGS), bool(code.co_flags & inspect.CO_VARKEYWORDS), bool(code.co_flags & inspect.CO_GENERATOR))
print(outer(1, 2, d=3).__code__.co_freevars, types.FunctionType(outer.__code__, globals(), "again").__name__)


def whoami():
    frame = inspect.currentframe()
    code = frame.f_code
    return isinstance(frame, types.FrameType), isinstance(code, types.CodeType), type(code) is types.CodeType, code.co_name, frame.f_back.f_code.co_name


def caller():
    return whoami()


print(caller(), all(isinstance(info.frame.f_code, types.CodeType) for info in inspect.stack()))
for hint in (int | None, list[int], dict[str, int] | str):
    kind = type(hint)
    print(kind.__module__, kind.__qualname__, hint, hint.__args__)
print(types.UnionType, types.GenericAlias, isinstance(int | None, types.UnionType), isinstance(list[int], types.GenericAlias), type(int | None) is types.UnionType)


def made(z, y):
    w = z + y
    return lambda: (z, w, y)


inner = made(1, 2)
print(inner.__code__.co_freevars, [cell.cell_contents for cell in inner.__closure__])
again = types.FunctionType(inner.__code__, globals(), "again", None, inner.__closure__)
print(again())
