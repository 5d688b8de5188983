import _cobra


class Lock:
    def acquire(self, blocking=True, timeout=-1):
        return True

    def release(self):
        pass

    def locked(self):
        return False

    def __enter__(self):
        return True

    def __exit__(self, *args):
        pass


RLock = Semaphore = BoundedSemaphore = Condition = Lock


class local:
    pass


class Event:
    def __init__(self):
        self._flag = False

    def is_set(self):
        return self._flag

    def set(self):
        self._flag = True

    def clear(self):
        self._flag = False

    def wait(self, timeout=None):
        return self._flag


class Thread:
    def __init__(self, *args, **kwargs):
        _cobra.unsupported("threading.Thread")


def get_ident():
    return 1


def current_thread():
    _cobra.unsupported("threading.current_thread()")
