# Validators of what has fields: models, dataclasses, typed dictionaries, and the arguments of
# functions.
import collections.abc

from _pydantic.errors import Invalid, PydanticOmit, invalid, of_function
from _pydantic.parts import default_of
from _pydantic.scalars import LAX, STRICT
from _pydantic.undefined import ArgsKwargs, PydanticUndefined

_set = object.__setattr__


def _paths(alias):
    """Ways to an input, each a list of keys."""
    if alias is None:
        return []
    if isinstance(alias, str):
        return [[alias]]
    return [list(one) for one in alias] if isinstance(alias[0], list) else [list(alias)]


def _found(value, paths, of_attributes):
    """The input that the first of the paths leads to, and that path."""
    for path in paths:
        at = value
        for i, key in enumerate(path):
            try:
                if of_attributes and i == 0:
                    at = getattr(at, key)
                elif isinstance(at, str):
                    raise KeyError(key)
                else:
                    at = at[key]
            except (KeyError, IndexError, TypeError, AttributeError):
                break
        else:
            return at, path
    return PydanticUndefined, None


class _Field:
    def __init__(self, name, schema, config, build):
        self.name, self.validate = name, build(schema["schema"], config)
        self.frozen = schema.get("frozen")
        self.by_alias = _paths(schema.get("validation_alias"))
        self.by_name = [[name]]

    def paths(self, state, config):
        aliased = state.by_alias if state.by_alias is not None else config.get("validate_by_alias", True)
        named = (
            state.by_name
            if state.by_name is not None
            else config.get("validate_by_name", config.get("populate_by_name"))
        )
        if not self.by_alias:
            return self.by_name
        return (self.by_alias if aliased is not False else []) + (self.by_name if named else [])

    def location(self, config):
        named = config.get("loc_by_alias", True) and self.by_alias
        return tuple(self.by_alias[0]) if named else (self.name,)


class _Fields:
    """What the validators of models, dataclasses and typed dictionaries share: fields, and what is
    beside them."""

    def __init__(self, fields, schema, config, build):
        self.fields, self.config = fields, config
        self.extra = schema.get("extra_behavior", config.get("extra_fields_behavior")) or "ignore"
        self.of_extra = build(schema["extras_schema"], config) if schema.get("extras_schema") else None
        self.of_extra_key = build(schema["extras_keys_schema"], config) if schema.get("extras_keys_schema") else None

    def one(self, field, value, state):
        state.field_name = field.name
        return field.validate(value, state)

    def run(self, value, state, of_attributes=False, required=None, positional=()):
        """The values of the fields, the extra ones, and the names that were given; `positional`:
        index and value by name."""
        values, given, lines, used, before = {}, {}, [], set(), (state.data, state.field_name)
        state.data = values
        for field in self.fields:
            if field.name in positional:
                index, item = positional[field.name]
                path = (index,)
            else:
                item, path = _found(value, field.paths(state, self.config), of_attributes)
            try:
                if item is not PydanticUndefined:
                    used.add(path[0])
                    values[field.name] = self.one(field, item, state)
                    given[field.name] = None
                    continue
                state.field_name = field.name
                default = default_of(field.validate, state)
                if default is not None:
                    values[field.name] = default.value
                elif (required is None or required[field.name]) and not getattr(field.validate, "omits", False):
                    lines += invalid("missing", value).at(*field.location(self.config)).lines
            except PydanticOmit:
                pass
            except Invalid as error:
                lines += error.at(*(path or field.location(self.config))).lines
        extra = self._extra(value, state, used, lines) if not of_attributes else {}
        state.data, state.field_name = before
        if lines:
            raise Invalid(lines)
        return values, extra, given

    def _extra(self, value, state, used, lines):
        extra, behavior = {}, state.extra or self.extra
        if behavior == "ignore":
            return extra
        for key, item in value.items():
            if key in used:
                continue
            if not isinstance(key, str):
                lines += invalid("invalid_key", key).at(str(key)).lines
            elif behavior == "forbid":
                lines += invalid("extra_forbidden", item).at(key).lines
            else:
                try:
                    key = key if self.of_extra_key is None else self.of_extra_key(key, state)
                    extra[key] = item if self.of_extra is None else self.of_extra(item, state)
                except Invalid as error:
                    lines += error.at(key).lines
        return extra

    def assign(self, values, name, value, state):
        """`values` with one of them validated anew."""
        for field in self.fields:
            if field.name != name:
                continue
            if field.frozen:
                raise invalid("frozen_field", value).at(name)
            state.data = {key: one for key, one in values.items() if key != name}
            try:
                return {**values, name: self.one(field, value, state)}, None
            except Invalid as error:
                raise error.at(name) from None
        if self.extra != "allow":
            raise invalid("no_such_attribute", value, attribute=name).at(name)
        return values, value if self.of_extra is None else self.of_extra(value, state)


def model_fields_validator(schema, config, build):
    fields = _Fields(
        [_Field(name, one, config, build) for name, one in schema["fields"].items()], schema, config, build
    )
    name = schema.get("model_name") or "Model"

    def validate(value, state):
        of_attributes = state.from_attributes
        if of_attributes is None:
            of_attributes = schema.get("from_attributes", config.get("from_attributes"))
        is_mapping = isinstance(value, collections.abc.Mapping)
        if not is_mapping and not of_attributes:
            raise invalid("model_type", value, class_name=name)
        if not is_mapping and (value is None or isinstance(value, (str, bytes, int, float, list, tuple, set, type))):
            raise invalid("model_attributes_type", value)
        values, extra, given = fields.run(value, state, not is_mapping)
        state.fields_set = (state.fields_set or 0) + len(given)
        behavior = state.extra or fields.extra
        return values, extra if behavior == "allow" else None, set(given) | set(extra)

    validate.fields = fields
    return validate


def _after_init(instance, method, state, value):
    try:
        getattr(instance, method)(state.context)
    except (ValueError, AssertionError) as error:
        raise of_function(error, value) from error


def _revalidates(schema, config, exact):
    mode = schema.get("revalidate_instances", config.get("revalidate_instances")) or "never"
    return mode == "always" or mode == "subclass-instances" and not exact


def model_validator(schema, config, build):
    cls, is_root, own = schema["cls"], schema.get("root_model"), schema.get("strict")
    config = {**config, **schema["config"]} if schema.get("config") else config
    inner, post_init = build(schema["schema"], config), schema.get("post_init")

    def fill(instance, made, state, value, given):
        if is_root:
            made = {"root": made}, None, given
        values, extra, fields_set = made
        _set(instance, "__dict__", values)
        _set(instance, "__pydantic_extra__", extra)
        _set(instance, "__pydantic_fields_set__", fields_set)
        if post_init:
            _after_init(instance, post_init, state, value)
        return instance

    def construct(value, state, instance):
        given = set() if value is PydanticUndefined else {"root"}
        made = inner(value, state)
        if instance is None:
            instance = cls.__new__(cls)
            _set(instance, "__pydantic_private__", None)
        return fill(instance, made, state, value, given)

    def validate(value, state):
        instance, state.self_instance = state.self_instance, None
        if instance is not None:
            return construct(value, state, instance)
        source = schema.get("generic_origin") or cls
        if isinstance(value, cls) or source is not cls and type(value) is source:
            exact = type(value) is cls
            if not exact:
                state.floor(STRICT)
            if not _revalidates(schema, config, exact):
                return value
            if is_root:
                return construct(value.root, state, None)
            given = set(value.__pydantic_fields_set__)
            made = construct({**value.__dict__, **(value.__pydantic_extra__ or {})}, state, None)
            _set(made, "__pydantic_fields_set__", given)
            return made
        if state.is_strict(own if own is not None else config.get("strict")) and state.mode == "python":
            raise invalid(
                "model_type" if not is_root else "is_instance_of",
                value,
                **{"class_name": cls.__name__, "class": cls.__name__},
            )
        state.floor(LAX)
        if schema.get("custom_init") and isinstance(value, collections.abc.Mapping):
            return cls(**value)
        return construct(value, state, None)

    def assign(obj, name, value, state):
        if schema.get("frozen"):
            raise invalid("frozen_instance", value).at(name)
        if is_root:
            _set(obj, "__dict__", {"root": inner(value, state)})
        else:
            target = inner
            while not hasattr(target, "fields") and hasattr(target, "inner"):
                target = target.inner
            values, extra = target.fields.assign(obj.__dict__, name, value, state)
            if name in values:
                _set(obj, "__dict__", values)
            else:
                obj.__pydantic_extra__[name] = extra
        obj.__pydantic_fields_set__.add(name)
        return obj

    validate.assign = assign
    return validate


# ---- dataclasses ----


def dataclass_args_validator(schema, config, build):
    specs = schema["fields"]
    fields = _Fields(
        [_Field(one["name"], one, config, build) for one in specs if one.get("init", True)], schema, config, build
    )
    unset = [_Field(one["name"], one, config, build) for one in specs if not one.get("init", True)]
    positional = [one["name"] for one in specs if not one.get("kw_only", True) and one.get("init", True)]
    only_init = [one["name"] for one in specs if one.get("init_only")]
    name = schema["dataclass_name"]

    def named(value):
        lines, found, by_name = [], {}, dict(value.kwargs or {})
        for i, item in enumerate(value.args):
            if i >= len(positional):
                lines += invalid("unexpected_positional_argument", item).at(i).lines
            elif positional[i] in by_name:
                lines += invalid("multiple_argument_values", by_name[positional[i]]).at(positional[i]).lines
            else:
                found[positional[i]] = i, item
        if lines:
            raise Invalid(lines)
        return by_name, found

    def validate(value, state):
        if isinstance(value, ArgsKwargs):
            (given, by_place), of_arguments = named(value), True
        elif isinstance(value, collections.abc.Mapping):
            given, by_place, of_arguments = value, {}, False
        else:
            raise invalid("dataclass_type", value, class_name=name)
        try:
            values, extra, _ = fields.run(given, state, positional=by_place)
        except Invalid as error:
            for line in error.lines:
                if of_arguments and line.kind == "missing":
                    line.input = value
                elif of_arguments and line.kind == "extra_forbidden":
                    line.kind, line.message = "unexpected_keyword_argument", "Unexpected keyword argument"
            raise
        for field in unset:
            default = default_of(field.validate, state)
            if default is not None:
                values[field.name] = default.value
        init = tuple([values.pop(one) for one in only_init]) if schema.get("collect_init_only") else None
        if fields.extra == "allow":
            values.update(extra)
        return values, init

    validate.fields = fields
    return validate


def dataclass_validator(schema, config, build):
    cls, own, post_init = schema["cls"], schema.get("strict"), schema.get("post_init")
    config = {**config, **schema["config"]} if schema.get("config") else config
    inner = build(schema["schema"], config)

    def fill(instance, made, value):
        values, init = made
        if schema.get("slots"):
            for name, one in values.items():
                _set(instance, name, one)
        else:
            _set(instance, "__dict__", values)
        if post_init:
            try:
                instance.__post_init__(*(init or ()))
            except (ValueError, AssertionError) as error:
                raise of_function(error, value) from error
        return instance

    def validate(value, state):
        instance, state.self_instance = state.self_instance, None
        if instance is not None:
            return fill(instance, inner(value, state), value)
        if isinstance(value, cls):
            if not _revalidates(schema, config, type(value) is cls):
                return value
            value = {name: getattr(value, name) for name in schema["fields"]}
        elif state.is_strict(own) and state.mode == "python":
            raise invalid("dataclass_exact_type", value, class_name=cls.__name__)
        state.floor(LAX)
        return fill(object.__new__(cls), inner(value, state), value)

    def assign(obj, name, value, state):
        if schema.get("frozen"):
            raise invalid("frozen_instance", value).at(name)
        target = inner
        while not hasattr(target, "fields") and hasattr(target, "inner"):
            target = target.inner
        values, extra = target.fields.assign(dict(obj.__dict__), name, value, state)
        return ({**values, name: extra} if name not in values else values), None, {name}

    validate.assign = assign
    return validate


def typed_dict_validator(schema, config, build):
    config = {**config, **schema["config"]} if schema.get("config") else config
    total = schema.get("total", config.get("typed_dict_total", True))
    made = [_Field(name, one, config, build) for name, one in schema["fields"].items()]
    required = {name: one.get("required", total) for name, one in schema["fields"].items()}
    fields = _Fields(made, schema, config, build)

    def validate(value, state):
        if not isinstance(value, collections.abc.Mapping):
            raise invalid("dict_type", value)
        values, extra, given = fields.run(value, state, required=required)
        state.fields_set = (state.fields_set or 0) + len(given)
        return {**values, **extra} if (state.extra or fields.extra) == "allow" else values

    return validate


# ---- arguments of functions ----


def arguments_validator(schema, config, build):
    parameters = [
        (
            one["name"],
            one.get("mode", "positional_or_keyword"),
            _Field(one["name"], {**one, "validation_alias": one.get("alias")}, config, build),
        )
        for one in schema["arguments_schema"]
    ]
    of_args = build(schema["var_args_schema"], config) if "var_args_schema" in schema else None
    of_kwargs = build(schema["var_kwargs_schema"], config) if "var_kwargs_schema" in schema else None
    positional = [one for one in parameters if one[1] != "keyword_only"]

    def given(value):
        if isinstance(value, ArgsKwargs):
            return list(value.args), dict(value.kwargs or {})
        if isinstance(value, collections.abc.Mapping):
            return [], dict(value)
        if isinstance(value, (list, tuple)):
            return list(value), {}
        raise invalid("arguments_type", value)

    def validate(value, state):
        args, kwargs = given(value)
        made, named, lines = [], {}, []
        for i, (name, mode, field) in enumerate(parameters):
            by_keyword = mode != "positional_only" and name in kwargs
            try:
                if mode != "keyword_only" and i < len(args):
                    if by_keyword:
                        raise invalid("multiple_argument_values", kwargs.pop(name))
                    made.append(field.validate(args[i], state))
                elif by_keyword:
                    named[name] = field.validate(kwargs.pop(name), state)
                else:
                    default = default_of(field.validate, state)
                    if default is None:
                        kind = {
                            "keyword_only": "missing_keyword_only_argument",
                            "positional_only": "missing_positional_only_argument",
                        }
                        raise invalid(kind.get(mode, "missing_argument"), value)
                    if mode == "positional_only":
                        made.append(default.value)
                    else:
                        named[name] = default.value
            except Invalid as error:
                lines += error.at(
                    i if mode == "positional_only" or mode != "keyword_only" and i < len(args) else name
                ).lines
        for i, item in list(enumerate(args))[len(positional) :]:
            try:
                if of_args is None:
                    raise invalid("unexpected_positional_argument", item)
                made.append(of_args(item, state))
            except Invalid as error:
                lines += error.at(i).lines
        for name, item in kwargs.items():
            try:
                if of_kwargs is None:
                    raise invalid("unexpected_keyword_argument", item)
                named[name] = of_kwargs(item, state)
            except Invalid as error:
                lines += error.at(name).lines
        if lines:
            raise Invalid(lines)
        return tuple(made), named

    return validate


def call_validator(schema, config, build):
    arguments, function = build(schema["arguments_schema"], config), schema["function"]
    of_result = build(schema["return_schema"], config) if "return_schema" in schema else None

    def validate(value, state):
        args, kwargs = arguments(value, state)
        result = function(*args, **kwargs)
        return result if of_result is None else of_result(result, state)

    return validate


FIELDS = {
    "model-fields": model_fields_validator,
    "model": model_validator,
    "dataclass-args": dataclass_args_validator,
    "dataclass": dataclass_validator,
    "typed-dict": typed_dict_validator,
    "arguments": arguments_validator,
    "call": call_validator,
}
