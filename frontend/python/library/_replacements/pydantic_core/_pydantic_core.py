# The core of pydantic is compiled. This takes its place below pydantic's own Python code (_pydantic
# has the parts).
import types

from _pydantic.errors import (
    PydanticCustomError,
    PydanticKnownError,
    PydanticOmit,
    PydanticSerializationError,
    PydanticSerializationUnexpectedValue,
    PydanticUseDefault,
    SchemaError,
    ValidationError,
)
from _pydantic.gather import MissingDefinitionError, gather_schemas_for_cleaning
from _pydantic.serializers import SchemaSerializer, from_json, to_json, to_jsonable_python
from _pydantic.undefined import ArgsKwargs, PydanticUndefined, PydanticUndefinedType, Some
from _pydantic.validators import SchemaValidator

_schema_gather = types.SimpleNamespace(
    MissingDefinitionError=MissingDefinitionError, gather_schemas_for_cleaning=gather_schemas_for_cleaning
)
build_profile, build_info, _recursion_limit = "release", "", 255


def _version():
    import importlib.metadata

    return importlib.metadata.version("pydantic_core")


__version__ = _version()


class _NotHere:
    def __init__(self, *args, **kwargs):
        import _cobra

        _cobra.unsupported(f"pydantic_core.{type(self).__name__}")


class Url(_NotHere):
    pass


class MultiHostUrl(_NotHere):
    pass


class TzInfo(_NotHere):
    pass


def list_all_errors():
    return []


def validate_core_schema(schema, *, strict=None):
    return schema
