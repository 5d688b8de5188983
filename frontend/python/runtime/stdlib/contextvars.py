_MISSING = object()
_current = {}


class Token:
    MISSING = _MISSING

    def __init__(self, var, old_value):
        self.var, self.old_value = var, old_value


class ContextVar:
    def __init__(self, name, *, default=_MISSING):
        self.name = name
        self._default = default

    def get(self, default=_MISSING):
        value = _current.get(self, _MISSING)
        if value is not _MISSING:
            return value
        for fallback in (default, self._default):
            if fallback is not _MISSING:
                return fallback
        raise LookupError(self)

    def set(self, value):
        token = Token(self, _current.get(self, _MISSING))
        _current[self] = value
        return token

    def reset(self, token):
        if token.old_value is _MISSING:
            _current.pop(self, None)
        else:
            _current[self] = token.old_value

    def __class_getitem__(cls, item):
        return cls

    def __repr__(self):
        return f"<ContextVar name={self.name!r} at {id(self):#x}>"


class Context:
    def __init__(self, values=()):
        self._values = dict(values)

    def run(self, function, *args, **kwargs):
        global _current
        outer, _current = _current, self._values
        try:
            return function(*args, **kwargs)
        finally:
            _current = outer

    def copy(self):
        return Context(self._values)

    def __getitem__(self, var):
        return self._values[var]

    def __contains__(self, var):
        return var in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def get(self, var, default=None):
        return self._values.get(var, default)


def copy_context():
    return Context(_current)
