# Nothing is written, so a handler is as good as any other.
import logging


class BaseRotatingHandler(logging.FileHandler):
    pass


class RotatingFileHandler(BaseRotatingHandler):
    def __init__(self, filename, mode="a", maxBytes=0, backupCount=0, encoding=None, delay=False, errors=None):
        super().__init__(filename, mode, encoding, delay, errors)
        self.maxBytes, self.backupCount = maxBytes, backupCount


class TimedRotatingFileHandler(BaseRotatingHandler):
    def __init__(self, filename, when="h", interval=1, backupCount=0, encoding=None, delay=False, **kwargs):
        super().__init__(filename, "a", encoding, delay)
        self.when, self.interval, self.backupCount = when, interval, backupCount


class WatchedFileHandler(logging.FileHandler):
    pass


class QueueHandler(logging.Handler):
    def __init__(self, queue):
        super().__init__()
        self.queue = queue

    def emit(self, record):
        pass


class MemoryHandler(logging.Handler):
    def __init__(self, capacity, flushLevel=logging.ERROR, target=None, flushOnClose=True):
        super().__init__()
        self.capacity, self.flushLevel, self.target = capacity, flushLevel, target

    def emit(self, record):
        pass
