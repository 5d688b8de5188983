# What goes wrong when pydantic validates, in its words.
_MESSAGES = {
    "no_such_attribute": "Object has no attribute '{attribute}'",
    "json_invalid": "Invalid JSON: {error}",
    "json_type": "JSON input should be string, bytes or bytearray",
    "recursion_loop": "Recursion error - cyclic reference detected",
    "missing": "Field required",
    "frozen_field": "Field is frozen",
    "frozen_instance": "Instance is frozen",
    "extra_forbidden": "Extra inputs are not permitted",
    "invalid_key": "Keys should be strings",
    "get_attribute_error": "Error extracting attribute: {error}",
    "model_type": "Input should be a valid dictionary or instance of {class_name}",
    "model_attributes_type": "Input should be a valid dictionary or object to extract fields from",
    "dataclass_type": "Input should be a dictionary or an instance of {class_name}",
    "dataclass_exact_type": "Input should be an instance of {class_name}",
    "default_factory_not_called": "The default factory uses validated data, but at least one validation error occurred",
    "none_required": "Input should be None",
    "greater_than": "Input should be greater than {gt}",
    "greater_than_equal": "Input should be greater than or equal to {ge}",
    "less_than": "Input should be less than {lt}",
    "less_than_equal": "Input should be less than or equal to {le}",
    "multiple_of": "Input should be a multiple of {multiple_of}",
    "finite_number": "Input should be a finite number",
    "too_short": "{field_type} should have at least {min_length} item{expected_plural} after validation, not {actual_length}",
    "too_long": "{field_type} should have at most {max_length} item{expected_plural} after validation, not {actual_length}",
    "iterable_type": "Input should be iterable",
    "string_type": "Input should be a valid string",
    "string_unicode": "Input should be a valid string, unable to parse raw data as a unicode string",
    "string_too_short": "String should have at least {min_length} character{expected_plural}",
    "string_too_long": "String should have at most {max_length} character{expected_plural}",
    "string_pattern_mismatch": "String should match pattern '{pattern}'",
    "enum": "Input should be {expected}",
    "dict_type": "Input should be a valid dictionary",
    "list_type": "Input should be a valid list",
    "tuple_type": "Input should be a valid tuple",
    "set_type": "Input should be a valid set",
    "frozen_set_type": "Input should be a valid frozenset",
    "set_item_not_hashable": "Set items should be hashable",
    "bool_type": "Input should be a valid boolean",
    "bool_parsing": "Input should be a valid boolean, unable to interpret input",
    "int_type": "Input should be a valid integer",
    "int_parsing": "Input should be a valid integer, unable to parse string as an integer",
    "int_from_float": "Input should be a valid integer, got a number with a fractional part",
    "float_type": "Input should be a valid number",
    "float_parsing": "Input should be a valid number, unable to parse string as a number",
    "bytes_type": "Input should be a valid bytes",
    "bytes_too_short": "Data should have at least {min_length} byte{expected_plural}",
    "bytes_too_long": "Data should have at most {max_length} byte{expected_plural}",
    "value_error": "Value error, {error}",
    "assertion_error": "Assertion failed, {error}",
    "literal_error": "Input should be {expected}",
    "missing_sentinel_error": "Input should be the 'MISSING' sentinel",
    "is_instance_of": "Input should be an instance of {class}",
    "is_subclass_of": "Input should be a subclass of {class}",
    "callable_type": "Input should be callable",
    "union_tag_invalid": "Input tag '{tag}' found using {discriminator} does not match any of the expected tags: {expected_tags}",
    "union_tag_not_found": "Unable to extract tag using discriminator {discriminator}",
    "arguments_type": "Arguments must be a tuple, list or a dictionary",
    "missing_argument": "Missing required argument",
    "unexpected_keyword_argument": "Unexpected keyword argument",
    "missing_keyword_only_argument": "Missing required keyword only argument",
    "unexpected_positional_argument": "Unexpected positional argument",
    "missing_positional_only_argument": "Missing required positional only argument",
    "multiple_argument_values": "Got multiple values for argument",
}


def _filled(template, context):
    values = dict(context or {})
    for name in ("min_length", "max_length"):
        if name in values:
            values["expected_plural"] = "" if values[name] == 1 else "s"
    for name, value in values.items():
        template = template.replace("{" + name + "}", str(value))
    return template


class PydanticCustomError(ValueError):
    def __init__(self, error_type, message_template, context=None, /):
        self.type, self.message_template, self.context = error_type, message_template, context

    def message(self):
        return _filled(self.message_template, self.context)

    def __str__(self):
        return self.message()


class PydanticKnownError(ValueError):
    def __init__(self, error_type, context=None, /):
        if error_type not in _MESSAGES:
            raise KeyError(f"Invalid error type: '{error_type}'")
        self.type, self.message_template, self.context = error_type, _MESSAGES[error_type], context

    def message(self):
        return _filled(self.message_template, self.context)

    def __str__(self):
        return self.message()


class PydanticOmit(Exception):
    pass


class PydanticUseDefault(Exception):
    pass


class PydanticSerializationError(ValueError):
    pass


class PydanticSerializationUnexpectedValue(ValueError):
    pass


class SchemaError(Exception):
    def errors(self):
        return []

    def error_count(self):
        return 0


class Line:
    """One error, and where in the input it is."""

    def __init__(self, kind, input, context=None, message=None):
        self.kind, self.input, self.context, self.loc = kind, input, context, ()
        self.message = _filled(_MESSAGES[kind], context) if message is None else message
        self.is_known = message is None


class Invalid(Exception):
    """Of the validators among themselves; what a program sees is a ValidationError."""

    def __init__(self, lines):
        self.lines = lines

    def at(self, *loc):
        for line in self.lines:
            line.loc = loc + line.loc
        return self


def invalid(kind, input, **context):
    return Invalid([Line(kind, input, context or None)])


def of_function(error, input):
    """What a function of the program has raised."""
    if isinstance(error, ValidationError):
        return Invalid(error._lines)
    if isinstance(error, PydanticCustomError):
        return Invalid([Line(error.type, input, error.context, error.message())])
    if isinstance(error, PydanticKnownError):
        return Invalid([Line(error.type, input, error.context)])
    kind = "assertion_error" if isinstance(error, AssertionError) else "value_error"
    return Invalid([Line(kind, input, {"error": error})])


def _version():
    from pydantic.version import version_short

    return version_short()


def _shown(value):
    text = repr(value)
    return text if len(text) <= 50 else text[:25] + "..." + text[len(text) - 24 :]


class ValidationError(ValueError):
    def __new__(cls, title="", lines=(), hide_input=False):
        self = ValueError.__new__(cls)
        self.title, self._lines, self._hide_input = title, list(lines), hide_input
        return self

    def __init__(self, *args, **kwargs):
        pass

    @classmethod
    def from_exception_data(cls, title, line_errors, input_type="python", hide_input=False):
        lines = []
        for one in line_errors:
            kind, context = one["type"], one.get("ctx")
            if isinstance(kind, PydanticCustomError):
                line = Line(kind.type, one.get("input"), kind.context, kind.message())
            else:
                line = Line(kind, one.get("input"), context)
            line.loc = tuple(one.get("loc", ()))
            lines.append(line)
        return cls(title, lines, hide_input)

    def error_count(self):
        return len(self._lines)

    def errors(self, *, include_url=True, include_context=True, include_input=True):
        found = []
        for line in self._lines:
            one = {"type": line.kind, "loc": line.loc, "msg": line.message}
            if include_input:
                one["input"] = line.input
            if include_context and line.context:
                one["ctx"] = dict(line.context)
            if include_url and line.is_known:
                one["url"] = f"https://errors.pydantic.dev/{_version()}/v/{line.kind}"
            found.append(one)
        return found

    def __str__(self):
        count = len(self._lines)
        text = f"{count} validation error{'' if count == 1 else 's'} for {self.title}"
        for line in self._lines:
            if line.loc:
                text += "\n" + ".".join([str(part) for part in line.loc])
            text += f"\n  {line.message} [type={line.kind}"
            if not self._hide_input:
                text += f", input_value={_shown(line.input)}, input_type={type(line.input).__name__}"
            text += "]"
            if line.is_known:
                text += f"\n    For further information visit https://errors.pydantic.dev/{_version()}/v/{line.kind}"
        return text

    __repr__ = __str__
