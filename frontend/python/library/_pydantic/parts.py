# Validators that are made of others: of containers, unions, functions and defaults. `build` makes
# the validator of a schema.
import collections.abc
import copy

from _pydantic.errors import Invalid, Line, PydanticOmit, PydanticUseDefault, ValidationError, invalid, of_function
from _pydantic.scalars import EXACT, LAX, STRICT
from _pydantic.undefined import PydanticUndefined, Some

_ITERABLES = (
    list,
    tuple,
    set,
    frozenset,
    collections.abc.Generator,
    collections.abc.KeysView,
    collections.abc.ValuesView,
)


def _items_of(value, kind, state, own, error):
    """The items of what is taken for a list, tuple or set."""
    if type(value) is kind:
        return value
    if isinstance(value, kind):
        state.floor(STRICT)
        return value
    unordered = kind in (set, frozenset)
    others = _ITERABLES + (collections.deque, collections.abc.ItemsView)
    if (
        state.is_strict(own)
        or not isinstance(value, others)
        or unordered
        and isinstance(value, collections.abc.ItemsView)
    ):
        raise invalid(error, value)
    state.floor(LAX)
    return value


def _check_length(schema, name, count, value):
    least, most = schema.get("min_length"), schema.get("max_length")
    if least is not None and count < least:
        raise invalid("too_short", value, field_type=name, min_length=least, actual_length=count)
    if most is not None and count > most:
        raise invalid("too_long", value, field_type=name, max_length=most, actual_length=count)


def _each(items, of_item, state):
    """The validated items; those that a validator omits are left out."""
    found, lines = [], []
    for i, item in enumerate(items):
        try:
            found.append(item if of_item is None else of_item(item, state))
        except PydanticOmit:
            pass
        except Invalid as error:
            lines += error.at(i).lines
    if lines:
        raise Invalid(lines)
    return found


def _collection(kind, name, error):
    def make(schema, config, build):
        of_item = build(schema["items_schema"], config) if "items_schema" in schema else None
        own = schema.get("strict")

        def validate(value, state):
            found = _each(_items_of(value, kind, state, own, error), of_item, state)
            try:
                found = kind(found)
            except TypeError:
                raise invalid("set_item_not_hashable", value) from None
            _check_length(schema, name, len(found), value)
            return found

        return validate

    return make


def tuple_validator(schema, config, build):
    of_items = [build(one, config) for one in schema["items_schema"]]
    many, own = schema.get("variadic_item_index"), schema.get("strict")

    def validate(value, state):
        items = list(_items_of(value, tuple, state, own, "tuple_type"))
        validators = of_items
        if many is not None:
            repeats = max(0, len(items) - len(of_items) + 1)
            validators = of_items[:many] + [of_items[many]] * repeats + of_items[many + 1 :]
        elif len(items) > len(of_items):
            most = len(of_items)
            raise invalid("too_long", value, field_type="Tuple", max_length=most, actual_length=len(items))
        found, lines = [], []
        for i, of_item in enumerate(validators):
            try:
                if i < len(items):
                    found.append(of_item(items[i], state))
                    continue
                default = default_of(of_item, state)
                if default is None:
                    raise invalid("missing", value)
                found.append(default.value)
            except PydanticOmit:
                pass
            except Invalid as error:
                lines += error.at(i).lines
        if lines:
            raise Invalid(lines)
        _check_length(schema, "Tuple", len(found), value)
        return tuple(found)

    return validate


def dict_validator(schema, config, build):
    of_key = build(schema["keys_schema"], config) if "keys_schema" in schema else None
    of_value = build(schema["values_schema"], config) if "values_schema" in schema else None
    own = schema.get("strict")

    def validate(value, state):
        if not isinstance(value, dict):
            if state.is_strict(own) or not isinstance(value, collections.abc.Mapping):
                raise invalid("dict_type", value)
            state.floor(LAX)
        found, lines = {}, []
        for key, item in value.items():
            place = key if isinstance(key, (str, int)) else str(key)
            try:
                made = key if of_key is None else of_key(key, state)
            except Invalid as error:
                lines += error.at(place, "[key]").lines
                continue
            try:
                found[made] = item if of_value is None else of_value(item, state)
            except PydanticOmit:
                pass
            except Invalid as error:
                lines += error.at(place).lines
        if lines:
            raise Invalid(lines)
        _check_length(schema, "Dictionary", len(found), value)
        return found

    return validate


def generator_validator(schema, config, build):
    of_item = build(schema["items_schema"], config) if "items_schema" in schema else None

    def validate(value, state):
        if not isinstance(value, collections.abc.Iterable):
            raise invalid("iterable_type", value)
        return iter(value) if of_item is None else (of_item(item, state) for item in value)

    return validate


def nullable_validator(schema, config, build):
    inner = build(schema["schema"], config)
    return lambda value, state: None if value is None else inner(value, state)


# ---- unions ----


def _label(schema):
    if schema["type"] in ("model", "dataclass"):
        return schema["cls"].__name__
    kind = schema["type"]
    if kind.startswith("function-"):
        function = schema["function"]["function"]
        name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
        inner = f", {_label(schema['schema'])}" if "schema" in schema else ""
        return f"{kind}[{name}()" + inner.replace(", ", ", ", 1) + "]"
    if kind in ("list", "set", "frozenset", "generator"):
        return f"{kind}[{_label(schema['items_schema']) if 'items_schema' in schema else 'any'}]"
    if kind == "dict":
        return f"dict[{_label(schema.get('keys_schema', {'type': 'any'}))},{_label(schema.get('values_schema', {'type': 'any'}))}]"
    if kind == "tuple":
        many = schema.get("variadic_item_index")
        return f"tuple[{', '.join([_label(one) + (', ...' if i == many else '') for i, one in enumerate(schema['items_schema'])])}]"
    if kind == "literal":
        return "literal[" + ",".join([repr(one) for one in schema["expected"]]) + "]"
    if kind in ("nullable", "default", "definition-ref"):
        return f"{kind}[{_label(schema['schema'])}]" if kind != "definition-ref" else "definition-ref"
    if kind == "is-instance":
        return f"is-instance[{schema['cls'].__name__}]"
    constraints = {"gt", "ge", "lt", "le", "multiple_of"} & set(schema) if kind in ("int", "float") else ()
    return f"constrained-{kind}" if constraints else kind


def union_validator(schema, config, build):
    choices = []
    for one in schema["choices"]:
        one, label = one if isinstance(one, tuple) else (one, None)
        choices.append((build(one, config), _label(one) if label is None else label))
    left_to_right, own = schema.get("mode") == "left_to_right", schema.get("strict")
    custom = schema.get("custom_error_type")

    def fail(lines, value):
        if custom is not None:
            raise Invalid([Line(custom, value, schema.get("custom_error_context"), schema.get("custom_error_message"))])
        raise Invalid(lines)

    def validate(value, state):
        exactness, fields_set, strict, lines, best = state.exactness, state.fields_set, state.strict, [], None
        if state.is_strict(own):
            state.strict = True
        for choice, label in choices:
            state.exactness, state.fields_set = EXACT, None
            try:
                made = choice(value, state)
            except Invalid as error:
                lines += error.at(label).lines
                continue
            finally:
                found = state.exactness, state.fields_set
                state.exactness, state.fields_set = exactness, fields_set
            if left_to_right or found == (EXACT, None):
                best = made, *found
                break
            if best is None:
                better = True
            elif best[2] is not None and found[1] is not None and best[2] != found[1]:
                better = best[2] < found[1]
            else:
                better = best[1] < found[0]
            best = (made, *found) if better else best
        state.strict = strict
        if best is None:
            fail(lines, value)
        if not left_to_right:
            state.floor(best[1])
            if best[2] is not None:
                state.fields_set = (state.fields_set or 0) + best[2]
        return best[0]

    return validate


def _tag_of(discriminator, value):
    if callable(discriminator):
        return discriminator(value)
    paths = [[discriminator]] if isinstance(discriminator, str) else discriminator
    for path in paths if paths and isinstance(paths[0], list) else [paths]:
        at = value
        for name in path:
            if isinstance(at, collections.abc.Mapping):
                at = at.get(name, PydanticUndefined)
            else:
                at = getattr(at, name, PydanticUndefined)
            if at is PydanticUndefined:
                break
        if at is not PydanticUndefined:
            return at
    return None


def tagged_union_validator(schema, config, build):
    choices = {tag: build(one, config) for tag, one in schema["choices"].items() if not isinstance(one, (str, int))}
    choices.update({tag: choices[one] for tag, one in schema["choices"].items() if isinstance(one, (str, int))})
    discriminator = schema["discriminator"]
    if callable(discriminator):
        shown = getattr(discriminator, "__name__", "") + "()"
    elif isinstance(discriminator, str):
        shown = repr(discriminator)
    else:
        paths = discriminator if isinstance(discriminator[0], list) else [discriminator]
        shown = " | ".join([repr(".".join([str(part) for part in path])) for path in paths])

    def validate(value, state):
        tag = _tag_of(discriminator, value)
        if tag is None:
            raise invalid("union_tag_not_found", value, discriminator=shown)
        plain = getattr(tag, "value", tag) if not isinstance(tag, (str, int)) else tag
        if tag not in choices and plain not in choices:
            expected = ", ".join([repr(getattr(one, "value", one)) for one in choices])
            raise invalid("union_tag_invalid", value, discriminator=shown, tag=str(plain), expected_tags=expected)
        try:
            return choices[tag if tag in choices else plain](value, state)
        except Invalid as error:
            raise error.at(plain) from None

    return validate


# ---- defaults and functions ----


def default_of(validator, state):
    """What a field has that the input leaves out: Some, or None if it must be given."""
    make = getattr(validator, "default", None)
    return make(state) if make is not None else None


def default_validator(schema, config, build):
    inner = build(schema["schema"], config)
    on_error, validates = schema.get("on_error", "raise"), schema.get(
        "validate_default", config.get("validate_default")
    )

    def default(state):
        if "default_factory" in schema:
            factory = schema["default_factory"]
            made = factory(state.data) if schema.get("default_factory_takes_data") else factory()
        elif "default" in schema:
            made = copy.deepcopy(schema["default"]) if schema.get("copy_default") else schema["default"]
        else:
            return default_of(inner, state)
        return Some(inner(made, state) if validates else made)

    def validate(value, state):
        if value is PydanticUndefined:
            return default(state).value
        try:
            return inner(value, state)
        except PydanticUseDefault:
            return default(state).value
        except Invalid:
            if on_error == "default":
                return default(state).value
            if on_error == "omit":
                raise PydanticOmit() from None
            raise

    validate.default = default
    validate.omits = on_error == "omit"
    return validate


class ValidationInfo:
    def __init__(self, state, config, field_name):
        self.context, self.mode, self.data = state.context, state.mode, state.data
        self.config, self.field_name = config or None, field_name

    def __repr__(self):
        return f"ValidationInfo(config={self.config}, context={self.context!r}, data={self.data!r}, field_name={self.field_name!r})"


def _caller(schema, config):
    """Calls the function of a schema, with what it wants to know of the validation."""
    function = schema["function"]
    call, with_info = function["function"], function["type"] == "with-info"

    def run(given, state, *values):
        if with_info:
            values += (ValidationInfo(state, config, function.get("field_name") or state.field_name),)
        try:
            return call(*values)
        except (ValueError, AssertionError) as error:
            raise of_function(error, given) from error

    return run


def function_validator(schema, config, build):
    kind, run = schema["type"], _caller(schema, config)
    inner = build(schema["schema"], config) if "schema" in schema else None
    if kind == "function-plain":
        return lambda value, state: run(value, state, value)
    if kind == "function-before":

        def validate(value, state):
            return inner(run(value, state, value), state)

    elif kind == "function-after":

        def validate(value, state):
            return run(value, state, inner(value, state))

    else:

        def validate(value, state):
            def handler(given, outer_location=None):
                try:
                    return inner(given, state)
                except Invalid as error:
                    lines = error.lines if outer_location is None else error.at(outer_location).lines
                    raise ValidationError(_label(schema), lines) from None

            return run(value, state, value, handler)

    validate.inner = inner  # an assignment to a field goes through what is around the fields
    if kind != "function-wrap" and hasattr(inner, "default"):
        validate.default = inner.default
    return validate


def chain_validator(schema, config, build):
    steps = [build(one, config) for one in schema["steps"]]

    def validate(value, state):
        for step in steps:
            value = step(value, state)
        return value

    return validate


def lax_or_strict_validator(schema, config, build):
    lax, strict = build(schema["lax_schema"], config), build(schema["strict_schema"], config)
    own = schema.get("strict")

    def validate(value, state):
        if state.is_strict(own):
            return strict(value, state)
        # It is an exact match if the strict schema takes it, too.
        before, state.strict = state.strict, True
        try:
            return strict(value, state)
        except Invalid:
            pass
        finally:
            state.strict = before
        state.floor(LAX)
        return lax(value, state)

    return validate


def json_or_python_validator(schema, config, build):
    of_json, of_python = build(schema["json_schema"], config), build(schema["python_schema"], config)
    return lambda value, state: (of_json if state.mode == "json" else of_python)(value, state)


def json_validator(schema, config, build):
    import json

    inner = build(schema["schema"], config) if "schema" in schema else None

    def validate(value, state):
        if not isinstance(value, (str, bytes, bytearray)):
            raise invalid("json_type", value)
        try:
            read = json.loads(value)
        except ValueError as error:
            raise invalid("json_invalid", value, error=str(error)) from None
        return read if inner is None else inner(read, state)

    return validate


def custom_error_validator(schema, config, build):
    inner = build(schema["schema"], config)

    def validate(value, state):
        try:
            return inner(value, state)
        except Invalid:
            message = schema.get("custom_error_message")
            line = Line(schema["custom_error_type"], value, schema.get("custom_error_context"), message)
            raise Invalid([line]) from None

    return validate


def missing_sentinel_validator(schema, config, build):
    def validate(value, state):
        from pydantic_core import MISSING

        if value is not MISSING:
            raise invalid("missing_sentinel_error", value)
        return value

    return validate


PARTS = {
    "list": _collection(list, "List", "list_type"),
    "set": _collection(set, "Set", "set_type"),
    "frozenset": _collection(frozenset, "Frozenset", "frozen_set_type"),
    "tuple": tuple_validator,
    "dict": dict_validator,
    "generator": generator_validator,
    "nullable": nullable_validator,
    "union": union_validator,
    "tagged-union": tagged_union_validator,
    "default": default_validator,
    "function-plain": function_validator,
    "function-before": function_validator,
    "function-after": function_validator,
    "function-wrap": function_validator,
    "chain": chain_validator,
    "lax-or-strict": lax_or_strict_validator,
    "json-or-python": json_or_python_validator,
    "json": json_validator,
    "custom-error": custom_error_validator,
    "missing-sentinel": missing_sentinel_validator,
}
