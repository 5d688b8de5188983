CRITICAL = FATAL = 50
ERROR = 40
WARNING = WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0

_names = {CRITICAL: "CRITICAL", ERROR: "ERROR", WARNING: "WARNING", INFO: "INFO", DEBUG: "DEBUG", NOTSET: "NOTSET"}


BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"
raiseExceptions = logThreads = logMultiprocessing = logProcesses = True


class Filterer:
    def __init__(self):
        self.filters = []

    def filter(self, record):
        return True

    def addFilter(self, filter):
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter):
        if filter in self.filters:
            self.filters.remove(filter)


class Handler(Filterer):
    _name = formatter = None

    def __init__(self, level=NOTSET):
        Filterer.__init__(self)
        self.setLevel(level)

    def get_name(self):
        return self._name

    def set_name(self, name):
        self._name = name

    name = property(get_name, set_name)

    def acquire(self):
        pass

    release = createLock = acquire

    def handle(self, record):
        self.emit(record)
        return True

    def handleError(self, record):
        pass

    def emit(self, record):
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def format(self, record):
        return (self.formatter or Formatter()).format(record)

    def setLevel(self, level):
        self.level = _level(level)

    def setFormatter(self, fmt):
        self.formatter = fmt

    def flush(self):
        pass

    def close(self):
        pass


class StreamHandler(Handler):
    terminator = "\n"

    def __init__(self, stream=None):
        import sys

        Handler.__init__(self)
        self.stream = sys.stderr if stream is None else stream

    def setStream(self, stream):
        before, self.stream = self.stream, stream
        return before if before is not stream else None

    def emit(self, record):
        pass


# Writes nothing: no file is opened for it.
class FileHandler(StreamHandler):
    def __init__(self, filename, mode="a", encoding=None, delay=False, errors=None):
        StreamHandler.__init__(self)
        self.baseFilename, self.mode, self.encoding, self.delay = filename, mode, encoding, delay


class NullHandler(Handler):
    def handle(self, record):
        pass

    emit = handle

    def createLock(self):
        self.lock = None


class Formatter:
    default_time_format = "%Y-%m-%d %H:%M:%S"
    default_msec_format = "%s,%03d"

    def __init__(self, fmt=None, datefmt=None, style="%", validate=True, *, defaults=None):
        self._fmt, self.datefmt = fmt or "%(message)s", datefmt

    def usesTime(self):
        return "%(asctime)" in self._fmt

    def format(self, record):
        return record.getMessage()

    formatMessage = format

    def formatException(self, ei):
        return ""

    def formatStack(self, stack_info):
        return stack_info


class BufferingFormatter:
    def __init__(self, linefmt=None):
        self.linefmt = linefmt or Formatter()

    def formatHeader(self, records):
        return ""

    formatFooter = formatHeader

    def format(self, records):
        return "".join([self.linefmt.format(record) for record in records])


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return True


class LogRecord:
    def __init__(self, name, level, pathname, lineno, msg, args, exc_info, func=None, sinfo=None, **kwargs):
        self.name, self.levelno, self.levelname = name, level, getLevelName(level)
        self.pathname, self.lineno, self.msg, self.args = pathname, lineno, msg, args
        self.exc_info, self.funcName, self.stack_info, self.exc_text = exc_info, func, sinfo, None

    def getMessage(self):
        return str(self.msg) % self.args if self.args else str(self.msg)


def makeLogRecord(dict):
    record = LogRecord(None, NOTSET, "", 0, "", (), None)
    record.__dict__.update(dict)
    return record


def getLogRecordFactory():
    return LogRecord


def setLogRecordFactory(factory):
    pass


def _level(level):
    if isinstance(level, int):
        return level
    if not isinstance(level, str):
        raise TypeError(f"Level not an integer or a valid string: {level!r}")
    for number, name in _names.items():
        if name == {"WARN": "WARNING", "FATAL": "CRITICAL"}.get(level, level):
            return number
    raise ValueError(f"Unknown level: {level!r}")


_checkLevel, _levelToName = _level, _names
_nameToLevel = {name: number for number, name in _names.items()} | {"FATAL": CRITICAL, "WARN": WARNING}


class Logger(Filterer):
    """Accepts everything and says nothing."""

    def __init__(self, name, level=NOTSET):
        Filterer.__init__(self)
        self.name = name
        self.setLevel(level)
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
        self.level = _level(level)

    def getEffectiveLevel(self):
        return self.level or root.level

    def isEnabledFor(self, level):
        return level >= self.getEffectiveLevel()

    def addHandler(self, hdlr):
        self.handlers.append(hdlr)

    def removeHandler(self, hdlr):
        if hdlr in self.handlers:
            self.handlers.remove(hdlr)

    def hasHandlers(self):
        return bool(self.handlers)

    def handle(self, record):
        pass

    callHandlers = handle

    def findCaller(self, stack_info=False, stacklevel=1):
        return "(unknown file)", 0, "(unknown function)", None

    def makeRecord(self, name, level, fn, lno, msg, args, exc_info, func=None, extra=None, sinfo=None):
        record = LogRecord(name, level, fn, lno, msg, args, exc_info, func, sinfo)
        record.__dict__.update(extra or {})
        return record

    def getChild(self, suffix):
        return getLogger(f"{self.name}.{suffix}")


class LoggerAdapter:
    def __init__(self, logger, extra=None):
        self.logger = logger
        self.extra = extra

    def process(self, msg, kwargs):
        kwargs["extra"] = self.extra
        return msg, kwargs

    def debug(self, msg, *args, **kwargs):
        pass

    info = warning = warn = error = critical = exception = log = debug

    def __getattr__(self, name):
        return getattr(self.logger, name)


class RootLogger(Logger):
    def __init__(self, level):
        Logger.__init__(self, "root", level)

    def __reduce__(self):
        return getLogger, ()


class Manager:
    def __init__(self, rootnode):
        self.root, self.disable, self.loggerClass = rootnode, 0, None
        self.loggerDict = _loggers

    def getLogger(self, name):
        return getLogger(name)

    def setLoggerClass(self, klass):
        self.loggerClass = klass


class PlaceHolder:
    pass


_loggers = {}
root = Logger.root = RootLogger(WARNING)
Logger.manager = Manager(root)
lastResort = StreamHandler()


def getLogger(name=None):
    if not name or name == root.name:
        return root
    if name not in _loggers:
        logger = _loggers[name] = getLoggerClass()(name)
        logger.parent = root
    return _loggers[name]


def getLevelName(level):
    if level in _names:
        return _names[level]
    for number, name in _names.items():
        if name == level:
            return number
    return f"Level {level}"


def getLevelNamesMapping():
    return {**{name: number for number, name in _names.items()}, "WARN": WARN, "FATAL": FATAL}


def basicConfig(**kwargs):
    pass


def disable(level=CRITICAL):
    pass


def captureWarnings(capture):
    pass


def debug(msg, *args, **kwargs):
    pass


info = warning = warn = error = critical = fatal = exception = log = debug


def getLoggerClass():
    return Logger.manager.loggerClass or Logger


def setLoggerClass(klass):
    Logger.manager.setLoggerClass(klass)


def shutdown(handlerList=()):
    pass


def addLevelName(level, name):
    _names[level] = name
