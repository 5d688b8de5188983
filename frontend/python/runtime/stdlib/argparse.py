import re

import _cobra

SUPPRESS = "==SUPPRESS=="
OPTIONAL = "?"
ZERO_OR_MORE = "*"
ONE_OR_MORE = "+"
PARSER = "A..."
REMAINDER = "..."


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
    """Without arguments of its own, parsing gives the defaults: there is no command line here."""

    def __init__(self, prog=None, usage=None, description=None, epilog=None, parents=(), **kwargs):
        self.prog, self.description = prog, description
        self._actions, self._defaults, self._options = [], {}, {}
        for parent in parents:
            self._defaults.update(parent._defaults)
            for action in parent._actions:
                self._add(action)

    def _add(self, action):
        self._actions.append(action)
        for name in action.option_strings:
            self._options[name] = action
        return action

    def add_argument(self, *names, **kwargs):
        return self._add(_make_action(names, kwargs, self._defaults))

    def add_argument_group(self, *args, **kwargs):
        return self

    add_mutually_exclusive_group = add_argument_group

    def add_subparsers(self, *, dest=SUPPRESS, required=False, parser_class=None, **kwargs):
        action = _Subparsers([], dest, PARSER, required=required)
        return self._add(action)

    def set_defaults(self, **kwargs):
        self._defaults.update(kwargs)
        for action in self._actions:
            if action.dest in kwargs:
                action.default = kwargs[action.dest]

    def get_default(self, dest):
        for action in self._actions:
            if action.dest == dest and action.default is not None:
                return action.default
        return self._defaults.get(dest)

    def error(self, message):
        raise SystemExit(2)

    def exit(self, status=0, message=None):
        raise SystemExit(status)

    def parse_args(self, args=None, namespace=None):
        namespace, rest = self.parse_known_args(args, namespace)
        if rest:
            self.error("unrecognized arguments: " + " ".join(rest))
        return namespace

    def parse_known_args(self, args=None, namespace=None):
        namespace = Namespace() if namespace is None else namespace
        for action in self._actions:
            if SUPPRESS not in (action.dest, action.default) and not hasattr(namespace, action.dest):
                setattr(namespace, action.dest, action.default)
        for name, value in self._defaults.items():
            if not hasattr(namespace, name):
                setattr(namespace, name, value)
        rest = [] if args is None else _Run(self, list(args), namespace).run()
        for action in self._actions:  # a default that is a text is read as an argument would be
            if isinstance(action.default, str) and getattr(namespace, action.dest, None) is action.default:
                setattr(namespace, action.dest, action.read(self, action.default))
        return namespace, rest


class Action:
    def __init__(
        self,
        option_strings,
        dest,
        nargs=None,
        const=None,
        default=None,
        type=None,
        choices=None,
        required=False,
        help=None,
        metavar=None,
    ):
        self.option_strings, self.dest, self.nargs, self.const, self.default = (
            option_strings,
            dest,
            nargs,
            const,
            default,
        )
        self.type, self.choices, self.required, self.help, self.metavar = type, choices, required, help, metavar

    def read(self, parser, text):
        if self.type is None:
            return text
        try:
            return self.type(text)
        except (TypeError, ValueError, ArgumentTypeError):
            parser.error(f"invalid value: {text!r}")

    def values(self, parser, texts):
        if self.nargs == OPTIONAL and not texts:
            value = self.const if self.option_strings else self.default
            return self.read(parser, value) if isinstance(value, str) else value
        if self.nargs == ZERO_OR_MORE and not texts and not self.option_strings and self.default is not None:
            return self.default
        read = [self.read(parser, t) for t in texts]
        if self.choices is not None and any(v not in self.choices for v in read):
            parser.error("invalid choice")
        return read[0] if self.nargs in (None, OPTIONAL) else read

    def pattern(self):
        known = {None: "(A)", OPTIONAL: "(A?)", ZERO_OR_MORE: "(A*)", ONE_OR_MORE: "(A+)", REMAINDER: "([AO]*)"}
        known[PARSER] = "(A[AO]*)"
        return known[self.nargs] if self.nargs in known else "(%s)" % ("A" * self.nargs)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values)


class _StoreConst(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, self.const)


class _Append(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        value = self.const if self.nargs == 0 else values
        setattr(namespace, self.dest, list(getattr(namespace, self.dest, None) or []) + [value])


class _Extend(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, list(getattr(namespace, self.dest, None) or []) + values)


class _Count(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, (getattr(namespace, self.dest, None) or 0) + 1)


class BooleanOptionalAction(Action):
    def __init__(self, option_strings, dest, default=None, **kwargs):
        negative = ["--no-" + name[2:] for name in option_strings if name.startswith("--")]
        super().__init__(list(option_strings) + negative, dest, 0, default=default, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, not option_string.startswith("--no-"))


class _Subparsers(Action):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._parsers = {}

    def add_parser(self, name, *, aliases=(), help=None, **kwargs):
        parser = ArgumentParser(**kwargs)
        for known in (name, *aliases):
            self._parsers[known] = parser
        return parser

    def values(self, parser, texts):
        if texts[0] not in self._parsers:
            parser.error(f"invalid choice: {texts[0]!r}")
        return texts

    def __call__(self, parser, namespace, values, option_string=None):
        name, *texts = values
        if self.dest != SUPPRESS:
            setattr(namespace, self.dest, name)
        made, rest = self._parsers[name].parse_known_args(texts)
        vars(namespace).update(vars(made))
        return rest


_SIMPLE = {"store_true": (_StoreConst, True), "store_false": (_StoreConst, False), "store_const": (_StoreConst, None)}
_SIMPLE |= {"append_const": (_Append, None), "count": (_Count, None)}
_WITH_VALUES = {None: Action, "store": Action, "append": _Append, "extend": _Extend}


def _make_action(names, kwargs, defaults):
    kwargs = dict(kwargs)
    action, dest = kwargs.pop("action", None), kwargs.pop("dest", None)
    options = [n for n in names if n.startswith("-")]
    if dest is None:
        dest = ([n for n in names if n.startswith("--")] or list(names))[0].lstrip("-").replace("-", "_")
    if "default" not in kwargs and dest in defaults:
        kwargs["default"] = defaults[dest]
    if not options and action is None:
        kwargs["required"] = kwargs.get("nargs") not in (OPTIONAL, ZERO_OR_MORE, REMAINDER)
    if action in ("help", "version"):
        return Action(options, SUPPRESS, 0, default=SUPPRESS)
    if action in _SIMPLE:
        made, const = _SIMPLE[action]
        if const is not None:
            kwargs = {"default": not const, **kwargs, "const": const}
        return made(options, dest, 0, **kwargs)
    if action in _WITH_VALUES:
        if action == "extend":
            kwargs.setdefault("nargs", ONE_OR_MORE)
        return _WITH_VALUES[action](options, dest, **kwargs)
    return action(options, dest, **kwargs)


class _Run:
    """One parsing: texts are options (O) or arguments (A), and each action takes as many as its
    pattern matches."""

    def __init__(self, parser, texts, namespace):
        self.parser, self.texts, self.namespace = parser, texts, namespace
        self.waiting = [a for a in parser._actions if not a.option_strings]
        self.seen, self.rest = set(), []
        if "--" in texts or any(t.startswith("@") for t in texts):
            _cobra.unsupported("argparse with '--' or '@' among the arguments")
        self.kinds = "".join("O" if self.option_of(t) is not None else "A" for t in texts)

    def option_of(self, text):
        """(action or None, the option, its value or None); None if the text is an argument."""
        options = self.parser._options
        if not text.startswith("-") or len(text) == 1:
            return None
        if text in options:
            return options[text], text, None
        name, equals, value = text.partition("=")
        if equals and name in options:
            return options[name], name, value
        if text.startswith("--"):
            found = [n for n in options if n.startswith(name)]
        else:
            found = [n for n in options if n == text[:2]]
            name, equals, value = text[:2], "=", text[2:]
        if len(found) > 1:
            self.parser.error(f"ambiguous option: {text}")
        if found:
            return options[found[0]], found[0], value if equals else None
        if re.fullmatch(r"-\d+|-\d*\.\d+", text) and not any(re.fullmatch(r"-\d+|-\d*\.\d+", n) for n in options):
            return None
        return None if " " in text else (None, text, None)

    def take(self, action, texts, option=None):
        self.seen.add(action)
        rest = action(
            self.parser, self.namespace, action.values(self.parser, texts) if action.nargs != 0 else [], option
        )
        if isinstance(action, _Subparsers):
            self.rest += rest

    def take_positionals(self, at):
        for count in range(len(self.waiting), 0, -1):
            match = re.match("".join(a.pattern() for a in self.waiting[:count]), self.kinds[at:])
            if match is None:
                continue
            taken, self.waiting = self.waiting[:count], self.waiting[count:]
            for i, action in enumerate(taken):
                size = len(match.group(i + 1))
                self.take(action, self.texts[at : at + size])
                at += size
            break
        return at

    def take_option(self, at):
        action, name, value = self.option_of(self.texts[at])
        at += 1
        if action is None:
            self.rest.append(self.texts[at - 1])
        elif action.nargs == 0 and value is not None:
            if name.startswith("--") or "-" + value[0] not in self.parser._options:
                self.parser.error(f"ignored explicit argument {value!r}")
            self.take(action, [], name)  # -vx is -v -x
            self.texts[at - 1] = "-" + value
            return at - 1
        elif value is not None:
            self.take(action, [value], name)
        else:
            match = re.match("()" if action.nargs == 0 else action.pattern(), self.kinds[at:])
            if match is None:
                self.parser.error(f"expected another number of arguments: {name}")
            self.take(action, self.texts[at : at + len(match.group(1))], name)
            at += len(match.group(1))
        return at

    def run(self):
        at, end = 0, len(self.texts)
        while "O" in self.kinds[at:]:
            following = self.kinds.index("O", at)
            if at != following:
                after = self.take_positionals(at)
                if after > at:
                    at = after
                    continue
            if self.kinds[at] == "A":
                self.rest += self.texts[at:following]
                at = following
            at = self.take_option(at)
        at = self.take_positionals(at)
        self.rest += self.texts[at:end]
        for action in self.parser._actions:
            if action.required and action not in self.seen:
                self.parser.error("an argument is required")
        return self.rest


class ArgumentTypeError(Exception):
    pass


class HelpFormatter:
    pass


ArgumentDefaultsHelpFormatter = RawTextHelpFormatter = RawDescriptionHelpFormatter = HelpFormatter


class ArgumentError(Exception):
    def __init__(self, argument, message):
        self.argument_name = getattr(argument, "dest", None)
        self.message = message

    def __str__(self):
        return self.message if self.argument_name is None else f"argument {self.argument_name}: {self.message}"


class MetavarTypeHelpFormatter(HelpFormatter):
    pass
