import sys
from abc import ABC, abstractmethod
from functools import wraps


class AbstractContextManager(ABC):
    def __enter__(self):
        return self

    @abstractmethod
    def __exit__(self, exc_type, exc_value, traceback):
        return None

    @classmethod
    def __subclasshook__(cls, C):
        if cls is AbstractContextManager:
            return hasattr(C, "__enter__") and hasattr(C, "__exit__")
        return NotImplemented


class AbstractAsyncContextManager(ABC):
    async def __aenter__(self):
        return self

    @abstractmethod
    async def __aexit__(self, exc_type, exc_value, traceback):
        return None

    @classmethod
    def __subclasshook__(cls, C):
        if cls is AbstractAsyncContextManager:
            return hasattr(C, "__aenter__") and hasattr(C, "__aexit__")
        return NotImplemented


class ContextDecorator:
    def _recreate_cm(self):
        return self

    def __call__(self, func):
        @wraps(func)
        def inner(*args, **kwds):
            with self._recreate_cm():
                return func(*args, **kwds)

        return inner


class _GeneratorContextManager(ContextDecorator, AbstractContextManager):
    def __init__(self, func, args, kwds):
        self.gen = func(*args, **kwds)
        self.func, self.args, self.kwds = func, args, kwds
        self.__doc__ = getattr(func, "__doc__", None)

    def _recreate_cm(self):
        return self.__class__(self.func, self.args, self.kwds)

    def __enter__(self):
        try:
            return next(self.gen)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, typ, value, traceback):
        if typ is None:
            try:
                next(self.gen)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        if value is None:
            value = typ()
        try:
            self.gen.throw(value)
        except StopIteration as exc:
            return exc is not value
        except RuntimeError as exc:
            if exc is value:
                return False
            if isinstance(value, StopIteration) and exc.__cause__ is value:
                return False
            raise
        except BaseException as exc:
            if exc is not value:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(func):
    @wraps(func)
    def helper(*args, **kwds):
        return _GeneratorContextManager(func, args, kwds)

    return helper


class _AsyncGeneratorContextManager(AbstractAsyncContextManager):
    def __init__(self, func, args, kwds):
        self.gen = func(*args, **kwds)

    async def __aenter__(self):
        try:
            return await self.gen.__anext__()
        except StopAsyncIteration:
            raise RuntimeError("generator didn't yield") from None

    async def __aexit__(self, typ, value, traceback):
        if typ is None:
            try:
                await self.gen.__anext__()
            except StopAsyncIteration:
                return False
            raise RuntimeError("generator didn't stop")
        if value is None:
            value = typ()
        try:
            await self.gen.athrow(value)
        except StopAsyncIteration as exc:
            return exc is not value
        except BaseException as exc:
            if exc is not value:
                raise
            return False
        raise RuntimeError("generator didn't stop after athrow()")


def asynccontextmanager(func):
    @wraps(func)
    def helper(*args, **kwds):
        return _AsyncGeneratorContextManager(func, args, kwds)

    return helper


class closing(AbstractContextManager):
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *exc_info):
        self.thing.close()


class aclosing(AbstractAsyncContextManager):
    def __init__(self, thing):
        self.thing = thing

    async def __aenter__(self):
        return self.thing

    async def __aexit__(self, *exc_info):
        await self.thing.aclose()


class chdir(AbstractContextManager):
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        import _cobra

        _cobra.unsupported("contextlib.chdir()")

    def __exit__(self, *excinfo):
        pass


class nullcontext(AbstractContextManager, AbstractAsyncContextManager):
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *excinfo):
        pass

    async def __aenter__(self):
        return self.enter_result

    async def __aexit__(self, *excinfo):
        pass


class suppress(AbstractContextManager):
    _active = 0  # how many are entered: as a `try` does, they show that a program is prepared for an exception

    def __init__(self, *exceptions):
        self._exceptions = exceptions

    def __enter__(self):
        suppress._active += 1

    def __exit__(self, exctype, excinst, exctb):
        suppress._active -= 1
        return exctype is not None and issubclass(exctype, self._exceptions)


class _Redirect(AbstractContextManager):
    _stream = None

    def __init__(self, new_target):
        self._new_target = new_target
        self._old_targets = []

    def __enter__(self):
        import sys

        self._old_targets.append(getattr(sys, self._stream))
        setattr(sys, self._stream, self._new_target)
        return self._new_target

    def __exit__(self, exctype, excinst, exctb):
        import sys

        setattr(sys, self._stream, self._old_targets.pop())


class redirect_stdout(_Redirect):
    _stream = "stdout"


class redirect_stderr(_Redirect):
    _stream = "stderr"


class ExitStack(AbstractContextManager):
    def __init__(self):
        self._exit_callbacks = []

    def push(self, exit):
        method = getattr(type(exit), "__exit__", None)
        self._exit_callbacks.append(exit if method is None else lambda *exc: method(exit, *exc))
        return exit

    def enter_context(self, cm):
        cls = type(cm)
        try:
            enter, leave = cls.__enter__, cls.__exit__
        except AttributeError:
            raise TypeError(
                f"'{cls.__module__}.{cls.__qualname__}' object does not support the context manager protocol"
            ) from None
        result = enter(cm)
        self._exit_callbacks.append(lambda *exc: leave(cm, *exc))
        return result

    def callback(self, callback, /, *args, **kwds):
        def run(exc_type, exc, tb):
            callback(*args, **kwds)

        self._exit_callbacks.append(run)
        return callback

    def pop_all(self):
        other = type(self)()
        other._exit_callbacks = self._exit_callbacks
        self._exit_callbacks = []
        return other

    def close(self):
        self.__exit__(None, None, None)

    def __exit__(self, typ, value, tb):
        received = typ is not None
        frame_exc = sys.exc_info()[1]

        def fix_context(new, old):  # as if the with statements were nested
            while True:
                context = new.__context__
                if context is None or context is old:
                    return
                if context is frame_exc:
                    break
                new = context
            new.__context__ = old

        suppressed = pending = False
        while self._exit_callbacks:
            callback = self._exit_callbacks.pop()
            try:
                if callback(typ, value, tb):
                    suppressed, pending = True, False
                    typ = value = None
            except BaseException as exc:
                fix_context(exc, value)
                typ, value, pending = type(exc), exc, True
        if pending:
            context = value.__context__
            try:
                raise value
            except BaseException:
                value.__context__ = context
                raise
        return received and suppressed


class AsyncExitStack(AbstractAsyncContextManager):
    def __init__(self):
        self._exit_callbacks = []

    async def enter_async_context(self, cm):
        cls = type(cm)
        result = await cls.__aenter__(cm)
        self._exit_callbacks.append((True, lambda *exc: cls.__aexit__(cm, *exc)))
        return result

    def enter_context(self, cm):
        cls = type(cm)
        result = cls.__enter__(cm)
        self._exit_callbacks.append((False, lambda *exc: cls.__exit__(cm, *exc)))
        return result

    def callback(self, callback, /, *args, **kwds):
        def run(exc_type, exc, tb):
            callback(*args, **kwds)

        self._exit_callbacks.append((False, run))
        return callback

    async def aclose(self):
        await self.__aexit__(None, None, None)

    async def __aexit__(self, typ, value, tb):
        received = typ is not None
        suppressed = pending = False
        while self._exit_callbacks:
            is_async, callback = self._exit_callbacks.pop()
            try:
                done = callback(typ, value, tb)
                if is_async:
                    done = await done
                if done:
                    suppressed, pending = True, False
                    typ = value = None
            except BaseException as exc:
                typ, value, pending = type(exc), exc, True
        if pending:
            raise value
        return received and suppressed
