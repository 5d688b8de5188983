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
# --- there is one code object for each def, and it cannot be changed
def f(a, b=1, *rest, c=2, **more):
    return a


def maker(n):
    def made():
        return n

    return made


def tried(action):
    try:
        return action()
    except Exception as error:
        return type(error).__name__, str(error)


code = f.__code__
print(f.__code__ is code, f.__code__ == code, {code: 1}.get(f.__code__), len({f.__code__, code, maker.__code__}))
print(maker(1).__code__ is maker(2).__code__, maker(1).__code__ == maker.__code__, code != maker.__code__, code == 3)
print(tried(lambda: setattr(code, "co_name", "x")), tried(lambda: setattr(code, "x", 1))[0], tried(lambda: delattr(code, "co_name"))[0], code.co_name)
f.__name__ = f.__qualname__ = "other"
print(f.__code__.co_name, f.__code__.co_qualname, maker(1).__code__.co_qualname, repr(code)[:14], code.co_flags, maker(1).__code__.co_flags)
print((lambda: 0).__code__ == (lambda: 0).__code__, f.__code__.co_firstlineno, maker(1).__code__.co_firstlineno - maker.__code__.co_firstlineno)


def decorator(function):
    return function


@decorator
@decorator
def decorated():
    pass


print(decorated.__code__.co_firstlineno - decorator.__code__.co_firstlineno)
renamed = code.replace(co_name="renamed", co_firstlineno=7)
print(renamed.co_name, renamed.co_firstlineno, renamed.co_varnames, renamed == code, code.co_name, renamed == code.replace(co_firstlineno=7, co_name="renamed"))
print(code.replace() == code, tried(lambda: code.replace(nothing=1))[0], tried(lambda: code.replace(co_name=1))[0], tried(lambda: code.replace(1))[0])
module = compile("x = 1", "text", "exec")
print(module.co_name, module.co_filename, module.co_argcount, module.co_varnames, module.co_freevars, module.co_firstlineno, tried(lambda: setattr(module, "co_name", 1)))
# --- __code__ can be set, and a function made of it
import types

factor = 10


def f(a, b=1):
    "of f"
    return a + b


def g(x, y=0):
    "of g"
    z = x * factor
    return z, y


def maker(p, q):
    def made():
        return p, q

    def other():
        return q * 2, p * 3

    return made, other


def tried(action):
    try:
        return action()
    except Exception as error:
        return type(error).__name__, str(error)


old = f.__code__
f.__code__ = g.__code__
print(f(2), f(2, 3), f.__doc__, f.__name__, f.__code__ is g.__code__, g.__code__ is not old, f.__defaults__)
f.__code__ = old
print(f(2), g(2), f.__code__ is old)
f.__code__ = (lambda *a: a).__code__
print(f(1, 2, 3))
made, other = maker(1, 2)
made.__code__ = other.__code__
print(made(), other(), made.__code__ is other.__code__)
print(tried(lambda: setattr(made, "__code__", f.__code__)), tried(lambda: setattr(f, "__code__", 3)))
h = g.__code__.replace(co_name="h")
made = types.FunctionType(h, {"factor": 3})
print(made(2, 1), made.__name__, made.__code__ is h, made.__code__ == g.__code__, made.__defaults__, made.__annotations__)
g.__code__ = h
print(g.__code__ is h, g.__name__, g(1))
print(types.FunctionType(old, globals(), "named", (4, 5))(), types.FunctionType(old, globals()).__doc__)
made, other = maker(1, 2)
print(tried(lambda: types.FunctionType(made.__code__, globals())), tried(lambda: types.FunctionType(made.__code__, globals(), closure=()))[0])
print(types.FunctionType(made.__code__, globals(), closure=(types.CellType(8), types.CellType(9)))())
# --- cells
import types


def maker():
    n = 1

    def read():
        return n

    def write(value):
        nonlocal n
        n = value

    return read, write


read, write = maker()
cell = read.__closure__[0]
cell.cell_contents = 9
print(read(), cell is write.__closure__[0], cell == write.__closure__[0])
write(4)
print(cell.cell_contents)
del cell.cell_contents
for action in (read, lambda: cell.cell_contents, lambda: types.CellType().cell_contents, lambda: types.CellType(1, 2)):
    try:
        print(action())
    except Exception as error:
        print(type(error).__name__)
print(types.CellType(5).cell_contents)
