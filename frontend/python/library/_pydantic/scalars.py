# Validators of values without parts. Each is a function of a value and the state of the validation;
# it returns the value that the model gets, or raises Invalid. How exactly the input matched decides
# between the members of a union.
import math
import re

from _pydantic.errors import Invalid, invalid

LAX, STRICT, EXACT = 0, 1, 2
_TRUE = ("1", "on", "t", "true", "y", "yes")
_FALSE = ("0", "off", "f", "false", "n", "no")
_INTEGER = re.compile(r"[+-]?\d+(_\d+)*(\.0+)?")


def _enum_value(value):
    import enum

    return value.value if isinstance(value, enum.Enum) else value


def _number_constraints(schema):
    kinds = (("le", "less_than_equal"), ("lt", "less_than"), ("ge", "greater_than_equal"), ("gt", "greater_than"))
    bounds = [(key, kind, schema[key]) for key, kind in kinds if schema.get(key) is not None]
    factor = schema.get("multiple_of")

    def check(number, value):
        if factor is not None:
            rest = number % factor
            if isinstance(number, float) and abs(rest - factor) < abs(rest):
                rest -= factor
            if rest != 0 and not (isinstance(number, float) and abs(rest) <= abs(number) / 1e9):
                raise invalid("multiple_of", value, multiple_of=factor)
        for key, kind, bound in bounds:
            good = {"le": number <= bound, "lt": number < bound, "ge": number >= bound, "gt": number > bound}[key]
            if not good:
                raise invalid(kind, value, **{key: bound})
        return number

    return check if bounds or factor is not None else lambda number, value: number


def int_validator(schema, _):
    check, own = _number_constraints(schema), schema.get("strict")

    def validate(value, state):
        strict = state.is_strict(own)
        if type(value) is int:
            return check(value, value)
        if isinstance(value, int) and not (strict and isinstance(value, bool)):
            state.floor(LAX if isinstance(value, bool) else STRICT)
            return check(int(value), value)
        if strict or isinstance(value, bool):
            raise invalid("int_type", value)
        state.floor(LAX)
        given, value = value, _enum_value(value)
        if isinstance(value, (str, bytes, bytearray)):
            text = (value if isinstance(value, str) else value.decode()).strip()
            if _INTEGER.fullmatch(text) is None:
                raise invalid("int_parsing", given)
            return check(int(text.partition(".")[0]), given)
        if isinstance(value, float):
            if not math.isfinite(value):
                raise invalid("finite_number", given)
            if value != int(value):
                raise invalid("int_from_float", given)
            return check(int(value), given)
        if isinstance(value, int):
            return check(int(value), given)
        raise invalid("int_type", given)

    return validate


def float_validator(schema, config):
    check, own = _number_constraints(schema), schema.get("strict")
    allows_all = schema.get("allow_inf_nan", config.get("allow_inf_nan", True))

    def validate(value, state):
        strict, given = state.is_strict(own), value
        if type(value) is not float:
            if not strict and isinstance(value, (str, bytes, bytearray)):
                state.floor(LAX)
                text = value if isinstance(value, str) else value.decode()
                try:
                    value = float(text.strip())
                except ValueError:
                    raise invalid("float_parsing", given) from None
            elif isinstance(value, bool) and strict or isinstance(value, (str, bytes, bytearray)):
                raise invalid("float_type", given)
            elif isinstance(value, (int, float)) or hasattr(type(value), "__float__"):
                state.floor(LAX if isinstance(value, bool) else STRICT)
                value = float(value)
            else:
                number = _enum_value(value)
                if strict or not isinstance(number, (int, float)):
                    raise invalid("float_type", given)
                state.floor(LAX)
                value = float(number)
        if not allows_all and not math.isfinite(value):
            raise invalid("finite_number", given)
        return check(value, given)

    return validate


def bool_validator(schema, _):
    own = schema.get("strict")

    def validate(value, state):
        if isinstance(value, bool):
            return value
        if state.is_strict(own):
            raise invalid("bool_type", value)
        state.floor(LAX)
        if isinstance(value, (str, bytes)):
            text = (value if isinstance(value, str) else value.decode()).lower()
            if text in _TRUE or text in _FALSE:
                return text in _TRUE
            raise invalid("bool_parsing", value)
        if isinstance(value, (int, float)):
            if value == 0 or value == 1:
                return value == 1
            raise invalid("bool_parsing" if value == int(value) else "bool_type", value)
        raise invalid("bool_type", value)

    return validate


def str_validator(schema, config):
    def option(name, of_config):
        return schema.get(name, config.get(of_config))

    own, pattern = schema.get("strict"), schema.get("pattern")
    strips, lower, upper = (
        option("strip_whitespace", "str_strip_whitespace"),
        option("to_lower", "str_to_lower"),
        option("to_upper", "str_to_upper"),
    )
    least, most = option("min_length", "str_min_length"), option("max_length", "str_max_length")
    takes_numbers = option("coerce_numbers_to_str", "coerce_numbers_to_str")
    compiled = re.compile(pattern) if isinstance(pattern, str) else pattern

    def text_of(value, state):
        if type(value) is str:
            return value
        if isinstance(value, str):
            state.floor(STRICT)
            return str(_enum_value(value))
        if not state.is_strict(own):
            state.floor(LAX)
            if isinstance(value, (bytes, bytearray)):
                try:
                    return value.decode()
                except UnicodeDecodeError:
                    raise invalid("string_unicode", value) from None
            if takes_numbers and isinstance(value, (int, float)) and not isinstance(value, bool):
                return str(value)
            if isinstance(_enum_value(value), str):
                return _enum_value(value)
        raise invalid("string_type", value)

    def validate(value, state):
        text = text_of(value, state)
        if strips:
            text = text.strip()
        if least is not None and len(text) < least:
            raise invalid("string_too_short", value, min_length=least)
        if most is not None and len(text) > most:
            raise invalid("string_too_long", value, max_length=most)
        if compiled is not None and compiled.search(text) is None:
            raise invalid("string_pattern_mismatch", value, pattern=compiled.pattern)
        return text.lower() if lower else text.upper() if upper else text

    return validate


def bytes_validator(schema, _):
    own, least, most = schema.get("strict"), schema.get("min_length"), schema.get("max_length")

    def validate(value, state):
        data = value
        if not isinstance(value, bytes):
            if state.is_strict(own) or not isinstance(value, (str, bytearray)):
                raise invalid("bytes_type", value)
            state.floor(LAX)
            data = value.encode() if isinstance(value, str) else bytes(value)
        if least is not None and len(data) < least:
            raise invalid("bytes_too_short", value, min_length=least)
        if most is not None and len(data) > most:
            raise invalid("bytes_too_long", value, max_length=most)
        return data

    return validate


def none_validator(schema, _):
    def validate(value, state):
        if value is not None:
            raise invalid("none_required", value)

    return validate


def any_validator(schema, _):
    def validate(value, state):
        state.floor(LAX)
        return value

    return validate


def listed(values):
    """ "'a', 'b' or 'c'" """
    texts = [repr(_enum_value(value)) for value in values]
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + " or " + texts[-1]


def literal_validator(schema, _):
    expected = schema["expected"]

    def validate(value, state):
        for one in expected:
            if one is value or type(one) is type(value) and one == value:
                return one
        if isinstance(value, str) and not state.is_strict(None):
            for one in expected:
                if isinstance(one, str) and one == value:
                    return one
        raise invalid("literal_error", value, expected=listed(expected))

    return validate


def enum_validator(schema, _):
    cls, members, own = schema["cls"], schema["members"], schema.get("strict")
    of_kind = {"int": int_validator, "float": float_validator, "str": str_validator}.get(schema.get("sub_type"))
    convert = of_kind({}, {}) if of_kind is not None else None

    def validate(value, state):
        if isinstance(value, cls):
            return value
        if state.is_strict(own):
            raise invalid("is_instance_of", value, **{"class": cls.__name__})
        state.floor(LAX)
        for member in members:
            if member.value is value or type(member.value) is type(value) and member.value == value:
                return member
        plain = value
        if convert is not None:
            try:
                plain = convert(value, state)
            except Invalid:
                plain = None
        for member in members:
            if plain is not None and member.value == plain:
                return member
        missing = schema.get("missing")
        found = missing(value) if missing is not None else None
        if isinstance(found, cls):
            return found
        raise invalid("enum", value, expected=listed(members))

    return validate


def is_instance_validator(schema, _):
    cls = schema["cls"]
    name = schema.get("cls_repr") or getattr(cls, "__name__", None) or repr(cls)

    def validate(value, state):
        if not isinstance(value, cls):
            raise invalid("is_instance_of", value, **{"class": name})
        return value

    return validate


def is_subclass_validator(schema, _):
    cls = schema["cls"]
    name = schema.get("cls_repr") or cls.__name__

    def validate(value, state):
        if not isinstance(value, type) or not issubclass(value, cls):
            raise invalid("is_subclass_of", value, **{"class": name})
        return value

    return validate


def callable_validator(schema, _):
    def validate(value, state):
        state.floor(LAX)
        if not callable(value):
            raise invalid("callable_type", value)
        return value

    return validate


SCALARS = {
    "int": int_validator,
    "float": float_validator,
    "bool": bool_validator,
    "str": str_validator,
    "bytes": bytes_validator,
    "none": none_validator,
    "any": any_validator,
    "literal": literal_validator,
    "enum": enum_validator,
    "is-instance": is_instance_validator,
    "is-subclass": is_subclass_validator,
    "callable": callable_validator,
}
