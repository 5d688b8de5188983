# One thread. What a program starts in another one runs at once, to its end.
import _cobra

TIMEOUT_MAX = 9223372036.0
ThreadError = RuntimeError


class BrokenBarrierError(RuntimeError):
    pass


class Lock:
    def acquire(self, blocking=True, timeout=-1):
        return True

    def release(self, n=1):
        pass

    def locked(self):
        return False

    acquire_lock, release_lock, locked_lock = acquire, release, locked

    def __enter__(self):
        return True

    def __exit__(self, *args):
        pass


RLock = Semaphore = BoundedSemaphore = Lock


class Condition(Lock):
    def __init__(self, lock=None):
        pass

    def wait(self, timeout=None):
        _cobra.unsupported("waiting for another thread")

    def wait_for(self, predicate, timeout=None):
        return predicate() or self.wait()

    def notify(self, n=1):
        pass

    def notify_all(self):
        pass

    notifyAll = notify_all


# A class may derive from it, with an __init__ that takes arguments.
class local:
    pass


class Event:
    def __init__(self):
        self._flag = False

    def is_set(self):
        return self._flag

    isSet = is_set

    def set(self):
        self._flag = True

    def clear(self):
        self._flag = False

    def wait(self, timeout=None):
        if not self._flag and timeout is None:
            _cobra.unsupported("waiting for another thread")
        return self._flag


class Barrier:
    def __init__(self, parties, action=None, timeout=None):
        self.parties = parties
        self.n_waiting = 0
        self.broken = False
        self._action = action

    def wait(self, timeout=None):
        if self.parties != 1:
            _cobra.unsupported("waiting for another thread")
        if self._action is not None:
            self._action()
        return 0

    def reset(self):
        pass

    def abort(self):
        self.broken = True


_running = []
_made = 0


class Thread:
    ident = native_id = None

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        global _made
        _made += 1
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self.name = f"Thread-{_made}" if name is None else str(name)
        self.daemon = bool(daemon)

    def start(self):
        if self.ident is not None:
            raise RuntimeError("threads can only be started once")
        if self.daemon:
            _cobra.unsupported("starting a daemon thread, which may run for ever,")
        self.ident = self.native_id = _made + 1
        _running.append(self)
        try:
            self.run()
        except Exception:
            pass  # printed by excepthook, and lost
        finally:
            _running.remove(self)

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def join(self, timeout=None):
        if self.ident is None:
            raise RuntimeError("cannot join thread before it is started")

    def is_alive(self):
        return self in _running

    def getName(self):
        return self.name

    def setName(self, name):
        self.name = name

    def isDaemon(self):
        return self.daemon

    def setDaemon(self, daemonic):
        self.daemon = daemonic

    def __repr__(self):
        return f"<{type(self).__name__}({self.name})>"


class Timer(Thread):
    def __init__(self, interval, function, args=None, kwargs=None):
        Thread.__init__(self, target=function, args=args or (), kwargs=kwargs)
        self.interval = interval

    def cancel(self):
        self._target = None

    def start(self):
        _cobra.unsupported("threading.Timer.start()")


_main = Thread(name="MainThread")
_main.ident = _main.native_id = 1
_running.append(_main)


def get_ident():
    return _running[-1].ident


get_native_id = get_ident


def current_thread():
    return _running[-1]


def main_thread():
    return _main


def enumerate():
    return list(_running)


def active_count():
    return len(_running)


currentThread, activeCount = current_thread, active_count


def settrace(func):
    pass


setprofile = settrace


def gettrace():
    return None


getprofile = gettrace


def stack_size(size=0):
    return 0


def excepthook(args, /):
    pass
