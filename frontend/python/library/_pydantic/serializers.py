# SchemaSerializer: what model_dump() makes of a model. What the values are decides, and functions
# of the program where it has some; a schema says which.
import collections.abc
import enum
import math

from _pydantic.errors import PydanticOmit, PydanticSerializationError
from _pydantic.undefined import PydanticUndefined


class _Info:
    def __init__(self, options, field_name=None):
        self.__dict__.update(options)
        self.field_name = field_name

    def mode_is_json(self):
        return self.mode == "json"


_OPTIONS = dict(
    mode="python", include=None, exclude=None, by_alias=None, exclude_unset=False, exclude_defaults=False,
    exclude_none=False, exclude_computed_fields=False, round_trip=False, warnings=True, fallback=None,
    serialize_as_any=False, polymorphic_serialization=None, context=None,
)  # fmt: skip


def _part(chosen, key):
    """What `include` or `exclude` says of one field: None (nothing), True (all of it), or of its
    parts."""
    if chosen is None:
        return None
    if isinstance(chosen, collections.abc.Mapping):
        found = chosen.get(key, chosen.get("__all__"))
        return True if found is ... else found
    return True if key in chosen or "__all__" in chosen else None


def _within(options, key):
    """The options for one part; None if it is left out."""
    include, exclude = _part(options["include"], key), _part(options["exclude"], key)
    if exclude is True or options["include"] is not None and include in (None, False):
        return None
    return {**options, "include": None if include is True else include, "exclude": exclude or None}


def _inner(schema):
    """Below what only validates."""
    while schema is not None and "serialization" not in schema:
        kind = schema["type"]
        if kind in (
            "default",
            "nullable",
            "function-before",
            "function-after",
            "function-wrap",
            "definitions",
            "custom-error",
        ):
            schema = schema["schema"]
        elif kind == "chain":
            schema = schema["steps"][-1]
        elif kind == "json-or-python":
            schema = schema["json_schema"]
        elif kind == "lax-or-strict":
            schema = schema["strict_schema"]
        else:
            return schema
    return schema


def _by_function(how, value, options, owner, field_name, inner):
    when, is_json = how.get("when_used", "always"), options["mode"] == "json"
    if when == "json" and not is_json or when == "unless-none" and value is None:
        return inner(value)
    if when == "json-unless-none" and (not is_json or value is None):
        return inner(value)
    if how["type"] == "to-string":
        return str(value)
    if how["type"] == "format":
        return format(value, how["formatting_string"])
    if how["type"] not in ("function-plain", "function-wrap"):
        return inner(value)
    args = [owner, value] if how.get("is_field_serializer") else [value]
    if how["type"] == "function-wrap":
        args.append(lambda given, index_key=None: inner(given))
    if how.get("info_arg"):
        args.append(_Info(options, field_name))
    made = how["function"](*args)
    return _json(made) if is_json else made


def _json(value):
    return _value(value, None, {**_OPTIONS, "mode": "json"})


def _value(value, schema, options, owner=None, field_name=None):
    schema = _inner(schema) if schema is not None else None
    how = schema.get("serialization") if schema is not None else None
    if how is not None and how["type"] not in ("include-exclude-sequence", "include-exclude-dict"):
        plain = {key: one for key, one in schema.items() if key != "serialization"}
        return _by_function(how, value, options, owner, field_name, lambda given: _value(given, plain, options))
    serializer = getattr(type(value), "__pydantic_serializer__", None)
    if serializer is not None and not isinstance(value, type):
        return serializer._serialize(value, options)
    if schema is not None and schema["type"] in ("model", "dataclass") and isinstance(value, schema["cls"]):
        return SchemaSerializer(schema)._serialize(value, options)
    return _container(value, schema or {}, options)


def _container(value, schema, options):
    is_json = options["mode"] == "json"
    if isinstance(value, enum.Enum):
        return _value(value.value, None, options) if is_json else value
    if isinstance(value, (str, int, float, bytes)) or value is None:
        if is_json and isinstance(value, bytes):
            return value.decode()
        return None if is_json and isinstance(value, float) and not math.isfinite(value) else value
    if isinstance(value, collections.abc.Mapping):
        of_value, made = schema.get("values_schema"), {}
        for key, one in value.items():
            chosen = _within(options, key)
            if chosen is not None:
                made[_key(key) if is_json else key] = _value(one, of_value, chosen)
        return made
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        schemas = schema.get("items_schema")
        made = []
        for i, one in enumerate(value):
            of_item = schemas
            if isinstance(schemas, list):
                of_item = schemas[min(i, len(schemas) - 1)] if schemas else None
            chosen = _within(options, i)
            if chosen is not None:
                made.append(_value(one, of_item, chosen))
        if is_json:
            return made
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    if not is_json:
        return value
    if hasattr(value, "__fspath__"):
        return str(value)
    if options["fallback"] is not None:
        return _value(options["fallback"](value), None, options)
    raise PydanticSerializationError(f"Unable to serialize unknown type: {type(value)!r}")


def _key(key):
    if isinstance(key, enum.Enum):
        key = key.value
    if key is None or isinstance(key, bool):
        return str(key) if key is None else str(key).lower()
    return str(key)


def _fields_of(schema):
    """The schema of a model or dataclass, and its fields by name."""
    while schema["type"] not in ("model-fields", "dataclass-args", "typed-dict"):
        if "schema" not in schema:
            return schema, None
        schema = schema["schema"]
    fields = schema["fields"]
    return schema, fields if isinstance(fields, dict) else {
        one["name"]: one for one in fields if not one.get("init_only")
    }


class SchemaSerializer:
    def __init__(self, schema, config=None, _use_prebuilt=True):
        self._schema, self._config = schema, config or {}

    def _serialize(self, value, options):
        target = self._target()
        how = target.get("serialization")
        if how is not None:
            inner = {key: one for key, one in target.items() if key != "serialization"}
            return _by_function(how, value, options, value, None, lambda given: self._plain(given, inner, options))
        return self._plain(value, target, options)

    def _target(self):
        schema, definitions = self._schema, {}
        while schema["type"] in ("definitions", "definition-ref"):
            if schema["type"] == "definitions":
                definitions.update({one["ref"]: one for one in schema["definitions"]})
                schema = schema["schema"]
            else:
                schema = definitions[schema["schema_ref"]]
        return _inner(schema)

    def _plain(self, value, schema, options):
        if schema["type"] not in ("model", "dataclass"):
            return _value(value, schema, options)
        if schema.get("root_model"):
            return _value(value.root, schema["schema"], options)
        return self._model(value, schema, options)

    def _model(self, value, schema, options):
        config = schema.get("config") or self._config
        of_fields, fields = _fields_of(schema)
        aliased = options["by_alias"] if options["by_alias"] is not None else config.get("serialize_by_alias", False)
        is_set = getattr(value, "__pydantic_fields_set__", None)
        if schema["type"] == "dataclass":
            values = {name: getattr(value, name) for name in fields}
        else:
            values = {**value.__dict__, **(getattr(value, "__pydantic_extra__", None) or {})}
        made = {}
        for name, one in values.items():
            field, chosen = fields.get(name, {}), _within(options, name)
            if chosen is None or field.get("serialization_exclude") or options["exclude_none"] and one is None:
                continue
            if name not in fields and name in value.__dict__ and schema["type"] == "model":
                continue  # a cached property
            if options["exclude_unset"] and is_set is not None and name not in is_set:
                continue
            if options["exclude_defaults"] and _is_default(one, field.get("schema")):
                continue
            condition = field.get("serialization_exclude_if")
            if condition is not None and condition(one):
                continue
            key = field.get("serialization_alias", name) if aliased else name
            try:
                made[key] = _value(one, field.get("schema"), chosen, value, name)
            except PydanticOmit:
                pass
        if not options["round_trip"] and not options["exclude_computed_fields"]:
            for field in of_fields.get("computed_fields", ()):
                name = field["property_name"]
                chosen = _within(options, name)
                one = getattr(value, name) if chosen is not None else None
                if chosen is not None and not (options["exclude_none"] and one is None):
                    key = field.get("alias", name) if aliased else name
                    made[key] = _value(one, field.get("return_schema"), chosen, value, name)
        return made

    def to_python(self, value, **options):
        return self._top(value, {**_OPTIONS, **{key: one for key, one in options.items() if key in _OPTIONS}})

    def _top(self, value, options):
        options["mode"] = options["mode"] or "python"
        if type(value).__dict__.get("__pydantic_serializer__") is self:
            return self._serialize(value, options)
        return _value(value, self._schema, options)

    def to_json(self, value, *, indent=None, ensure_ascii=False, **options):
        import json

        plain = self.to_python(value, **{**options, "mode": "json"})
        separators = (",", ":") if indent is None else (",", ": ")
        return json.dumps(plain, indent=indent, separators=separators, ensure_ascii=ensure_ascii).encode()

    def __repr__(self):
        return "SchemaSerializer()"


def _is_default(value, schema):
    while schema is not None and schema["type"].startswith("function-") and "schema" in schema:
        schema = schema["schema"]
    if schema is None or schema["type"] != "default":
        return False
    if "default_factory" in schema:
        return not schema.get("default_factory_takes_data") and schema["default_factory"]() == value
    return schema.get("default", PydanticUndefined) == value


def to_jsonable_python(value, **options):
    return _value(value, None, {**_OPTIONS, **{k: v for k, v in options.items() if k in _OPTIONS}, "mode": "json"})


def to_json(value, *, indent=None, **options):
    import json

    plain = to_jsonable_python(value, **options)
    return json.dumps(plain, indent=indent, separators=(",", ":") if indent is None else (",", ": ")).encode()


def from_json(data, **options):
    import json

    return json.loads(data)
