CRITICAL = FATAL = 50
ERROR = 40
WARNING = WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0

_names = {CRITICAL: "CRITICAL", ERROR: "ERROR", WARNING: "WARNING", INFO: "INFO", DEBUG: "DEBUG", NOTSET: "NOTSET"}


class Filterer:
    def __init__(self):
        self.filters = []

    def addFilter(self, filter):
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter):
        if filter in self.filters:
            self.filters.remove(filter)


class Handler(Filterer):
    def __init__(self, level=NOTSET):
        Filterer.__init__(self)
        self.level = level

    def setLevel(self, level):
        self.level = level

    def setFormatter(self, fmt):
        pass

    def flush(self):
        pass

    def close(self):
        pass


class StreamHandler(Handler):
    def __init__(self, stream=None):
        Handler.__init__(self)


class FileHandler(Handler):
    def __init__(self, *args, **kwargs):
        Handler.__init__(self)


class NullHandler(Handler):
    pass


class Formatter:
    def __init__(self, *args, **kwargs):
        pass


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return True


class LogRecord:
    pass


class Logger(Filterer):
    """Accepts everything and says nothing."""

    def __init__(self, name, level=NOTSET):
        Filterer.__init__(self)
        self.name = name
        self.level = level
        self.handlers = []
        self.parent = None
        self.propagate = True
        self.disabled = False

    def debug(self, msg, *args, **kwargs):
        pass

    info = warning = warn = error = critical = fatal = exception = debug

    def log(self, level, msg, *args, **kwargs):
        pass

    def setLevel(self, level):
        self.level = level

    def getEffectiveLevel(self):
        return self.level or WARNING

    def isEnabledFor(self, level):
        return level >= self.getEffectiveLevel()

    def addHandler(self, hdlr):
        self.handlers.append(hdlr)

    def removeHandler(self, hdlr):
        if hdlr in self.handlers:
            self.handlers.remove(hdlr)

    def hasHandlers(self):
        return bool(self.handlers)

    def getChild(self, suffix):
        return getLogger(f"{self.name}.{suffix}")


class LoggerAdapter:
    def __init__(self, logger, extra=None):
        self.logger = logger
        self.extra = extra

    def __getattr__(self, name):
        return getattr(self.logger, name)


root = Logger("root", WARNING)
_loggers = {}


def getLogger(name=None):
    if not name:
        return root
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]


def getLevelName(level):
    return _names.get(level, f"Level {level}")


def basicConfig(**kwargs):
    pass


def disable(level=CRITICAL):
    pass


def captureWarnings(capture):
    pass


def debug(msg, *args, **kwargs):
    pass


info = warning = warn = error = critical = exception = log = debug


def getLoggerClass():
    return Logger


def addLevelName(level, name):
    _names[level] = name
