# Small values of pydantic's core.
class PydanticUndefinedType:
    _only = None

    def __new__(cls):
        if cls._only is None:
            cls._only = object.__new__(cls)
        return cls._only

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return "PydanticUndefined"

    def __repr__(self):
        return "PydanticUndefined"


PydanticUndefined = PydanticUndefinedType()


class Some:
    __match_args__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Some({self.value!r})"

    @classmethod
    def __class_getitem__(cls, item):
        return cls


class ArgsKwargs:
    def __init__(self, args, kwargs=None):
        self.args, self.kwargs = args, kwargs or None

    def __repr__(self):
        return f"ArgsKwargs({self.args!r}" + (f", {self.kwargs!r})" if self.kwargs else ")")

    def __eq__(self, other):
        return isinstance(other, ArgsKwargs) and (self.args, self.kwargs) == (other.args, other.kwargs)

    __hash__ = None
