# SchemaValidator: a schema of pydantic, as functions.
import _cobra

from _pydantic.errors import Invalid, PydanticOmit, PydanticUseDefault, SchemaError, ValidationError, invalid
from _pydantic.models import FIELDS
from _pydantic.parts import PARTS, default_of
from _pydantic.scalars import EXACT, SCALARS


class State:
    """Of one validation: what was asked for, and where it is."""

    def __init__(
        self,
        mode="python",
        strict=None,
        extra=None,
        from_attributes=None,
        context=None,
        self_instance=None,
        by_alias=None,
        by_name=None,
    ):
        self.mode, self.strict, self.extra, self.from_attributes = mode, strict, extra, from_attributes
        self.context, self.self_instance, self.by_alias, self.by_name = context, self_instance, by_alias, by_name
        self.data = self.field_name = self.fields_set = None
        self.exactness, self.of_config = EXACT, None

    def is_strict(self, own):
        if self.strict is not None:
            return self.strict
        return bool(own)

    def floor(self, exactness):
        if exactness < self.exactness:
            self.exactness = exactness


def _refused(kind):
    def validate(value, state):
        _cobra.unsupported(f"validating {kind!r} with pydantic")

    return validate


class _Builder:
    def __init__(self):
        self.definitions = {}

    def __call__(self, schema, config):
        kind = schema["type"]
        if config.get("strict") and "strict" not in schema and kind in SCALARS | PARTS:
            schema = {**schema, "strict": True}
        if kind == "definitions":
            for one in schema["definitions"]:
                self.definitions[one["ref"]] = None
            for one in schema["definitions"]:
                self.definitions[one["ref"]] = self(one, config)
            return self(schema["schema"], config)
        if kind == "definition-ref":
            definitions, ref = self.definitions, schema["schema_ref"]
            return lambda value, state: definitions[ref](value, state)
        if kind in SCALARS:
            made = SCALARS[kind](schema, config)
        else:
            make = PARTS.get(kind) or FIELDS.get(kind)
            made = make(schema, config, self) if make is not None else _refused(kind)
        if schema.get("ref"):
            self.definitions[schema["ref"]] = made
        return made


def _title(schema):
    while schema["type"] in (
        "definitions",
        "function-after",
        "function-before",
        "function-wrap",
        "default",
        "nullable",
    ):
        if schema["type"] not in ("definitions",) and "schema" in schema and schema["type"] in ("default", "nullable"):
            return f"{schema['type']}[{_title(schema['schema'])}]"
        schema = schema["schema"]
    if schema["type"] in ("model", "dataclass"):
        return (schema.get("config") or {}).get("title") or schema["cls"].__name__
    from _pydantic.parts import _label

    return _label(schema)


class SchemaValidator:
    def __init__(self, schema, config=None, _use_prebuilt=True):
        self._schema, self._config = schema, config or {}
        self._made = None
        self.title = (config or {}).get("title") or _title(schema)

    @property
    def _validate(self):
        if self._made is None:  # most classes of a program are never made
            self._made = _Builder()(self._schema, self._config)
        return self._made

    def _run(self, value, state):
        try:
            return self._validate(value, state)
        except Invalid as error:
            hides = self._config.get("hide_input_in_errors", False)
            failure = ValidationError(self.title, error.lines, hides)
        except PydanticOmit:
            raise SchemaError("Uncaught Omit error, please check your usage of `default` validators.") from None
        raise failure

    def validate_python(self, input, *, allow_partial=False, **options):
        return self._run(input, State("python", **options))

    def isinstance_python(self, input, **options):
        try:
            self._validate(input, State("python", **options))
        except (Invalid, PydanticOmit, PydanticUseDefault):
            return False
        return True

    def validate_json(self, input, *, allow_partial=False, **options):
        import json

        try:
            value = json.loads(input)
        except ValueError as error:
            failure = invalid("json_invalid", input, error=str(error))
            raise ValidationError(self.title, failure.lines) from None
        return self._run(value, State("json", **options))

    def validate_strings(self, input, *, allow_partial=False, **options):
        return self._run(input, State("json", **options))

    def validate_assignment(self, obj, field_name, field_value, **options):
        target = self._validate
        while not hasattr(target, "assign") and hasattr(target, "inner"):
            target = target.inner
        if target is not self._validate:
            _cobra.unsupported("assigning to a field where a validator sees the whole model")
        state = State("python", **options)
        return self._run_assignment(target, obj, field_name, field_value, state)

    def _run_assignment(self, target, obj, name, value, state):
        try:
            return target.assign(obj, name, value, state)
        except Invalid as error:
            failure = ValidationError(self.title, error.lines)
        raise failure

    def get_default_value(self, *, strict=None, context=None):
        return default_of(self._validate, State("python", strict, context=context))

    def __repr__(self):
        return f"SchemaValidator(title={self.title!r})"
