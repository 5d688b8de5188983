import _cobra


class Namespace:
    def __init__(self, **kwargs):
        for name in kwargs:
            setattr(self, name, kwargs[name])

    def __eq__(self, other):
        return vars(self) == vars(other) if isinstance(other, Namespace) else NotImplemented

    __hash__ = None

    def __contains__(self, key):
        return key in self.__dict__

    def __repr__(self):
        return type(self).__name__ + "(" + ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()) + ")"


class ArgumentParser:
    """Collects declarations; parsing gives the defaults, because there is no command line here."""

    def __init__(self, *args, **kwargs):
        self._defaults = {}

    def add_argument(self, *names, **kwargs):
        name = kwargs.get("dest")
        if name is None:
            longs = [n for n in names if n.startswith("--")]
            name = (longs or list(names))[0].lstrip("-").replace("-", "_")
        default = kwargs.get("default")
        action = kwargs.get("action")
        if default is None and action in ("store_true", "store_false"):
            default = action == "store_false"
        if name not in ("help",):
            self._defaults[name] = default

    def add_argument_group(self, *args, **kwargs):
        return self

    add_mutually_exclusive_group = add_argument_group

    def set_defaults(self, **kwargs):
        self._defaults.update(kwargs)

    def parse_args(self, args=None, namespace=None):
        return Namespace(**self._defaults)

    def parse_known_args(self, args=None, namespace=None):
        return self.parse_args(), []


class Action:
    pass


class ArgumentTypeError(Exception):
    pass


class HelpFormatter:
    pass


ArgumentDefaultsHelpFormatter = RawTextHelpFormatter = RawDescriptionHelpFormatter = HelpFormatter
SUPPRESS = "==SUPPRESS=="
OPTIONAL = "?"
ZERO_OR_MORE = "*"
ONE_OR_MORE = "+"
PARSER = "A..."
REMAINDER = "..."


class ArgumentError(Exception):
    def __init__(self, argument, message):
        self.argument_name = getattr(argument, "dest", None)
        self.message = message

    def __str__(self):
        return self.message if self.argument_name is None else f"argument {self.argument_name}: {self.message}"


class MetavarTypeHelpFormatter(HelpFormatter):
    pass


class BooleanOptionalAction(Action):
    pass
