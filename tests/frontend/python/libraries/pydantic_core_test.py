#!/usr/bin/env python3
"""What takes the place of pydantic's compiled core validates as pydantic_core 2.50 does: the
answers below are its own.

The library around it is made here, as pip would install it: Python files beside an extension that
cannot run. With the real core instead:

    pydantic_core_test.py --real        run by a Python that has pydantic_core"""
import json
import os
import subprocess
import sys
import tempfile

BIN = os.environ.get("COBRA_BIN", "build/release/bin")
PROGRAM = '''
import torch
from pydantic_core import ArgsKwargs, PydanticUndefined, SchemaSerializer, SchemaValidator, ValidationError

INT, STR = {"type": "int"}, {"type": "str"}


def asked(schema, value, **options):
    """The value that comes out, or the errors."""
    try:
        return SchemaValidator(schema).validate_python(value, **options)
    except ValidationError as error:
        return [(one["type"], one["loc"], one["msg"]) for one in error.errors()]


def parsing(*loc):
    return [("int_parsing", loc, "Input should be a valid integer, unable to parse string as an integer")]


class Config:
    __slots__ = "__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__"


def config_schema(**more):
    fields = {
        "dim": {"type": "model-field", "schema": {"type": "int", "gt": 0}},
        "act": {
            "type": "model-field",
            "schema": {"type": "default", "schema": {"type": "literal", "expected": ["relu", "gelu"]}, "default": "relu"},
        },
    }
    return {"type": "model", "cls": Config, "schema": {"type": "model-fields", "fields": fields, **more}}


CONV = {"type": "typed-dict", "fields": {"kind": {"type": "typed-dict-field", "schema": {"type": "literal", "expected": ["conv"]}}}}
LINEAR = {"type": "typed-dict", "fields": {"out": {"type": "typed-dict-field", "schema": INT}}}
CASES = [
    (INT, "12", 12), (INT, 3.0, 3), (INT, True, 1), (INT, "1_0", 10), (INT, "2.0", 2), (INT, "x", parsing()),
    (INT, 2.5, [("int_from_float", (), "Input should be a valid integer, got a number with a fractional part")]),
    (INT, None, [("int_type", (), "Input should be a valid integer")]),
    ({"type": "int", "multiple_of": 8, "le": 64}, 72, [("less_than_equal", (), "Input should be less than or equal to 64")]),
    ({"type": "int", "strict": True}, "1", [("int_type", (), "Input should be a valid integer")]),
    ({"type": "float"}, "1e-3", 0.001), ({"type": "float"}, 2, 2.0), ({"type": "bool"}, "off", False), ({"type": "bool"}, 1, True),
    ({"type": "bool"}, "maybe", [("bool_parsing", (), "Input should be a valid boolean, unable to interpret input")]),
    (STR, b"ab", "ab"), (STR, 3, [("string_type", (), "Input should be a valid string")]),
    ({"type": "str", "to_upper": True, "strip_whitespace": True}, " a ", "A"),
    ({"type": "list", "items_schema": INT}, ("1", 2.0), [1, 2]),
    ({"type": "list", "items_schema": INT}, ["1", "b", 2, "c"], parsing(1) + parsing(3)),
    ({"type": "list", "max_length": 1}, [1, 2], [("too_long", (), "List should have at most 1 item after validation, not 2")]),
    ({"type": "tuple", "items_schema": [INT, STR], "variadic_item_index": 0}, ["1", 2, "x"], (1, 2, "x")),
    ({"type": "dict", "keys_schema": STR, "values_schema": INT}, {"a": "1"}, {"a": 1}),
    ({"type": "dict", "keys_schema": INT}, {"a": "1"}, parsing("a", "[key]")),
    ({"type": "set", "items_schema": INT}, [1, "1", 2], {1, 2}),
    ({"type": "nullable", "schema": INT}, None, None),
    ({"type": "union", "choices": [INT, STR]}, "1", "1"), ({"type": "union", "choices": [INT, STR]}, 1.0, 1),
    ({"type": "union", "choices": [INT, STR], "mode": "left_to_right"}, "1", 1),
    ({"type": "union", "choices": [{"type": "float"}, INT]}, 1, 1),
    ({"type": "tagged-union", "discriminator": "kind", "choices": {"conv": CONV, "linear": LINEAR}}, {"kind": "linear", "out": "3"}, {"out": 3}),
    ({"type": "tagged-union", "discriminator": "kind", "choices": {"conv": CONV}}, {"kind": "x"},
     [("union_tag_invalid", (), "Input tag 'x' found using 'kind' does not match any of the expected tags: 'conv'")]),
    ({"type": "function-after", "function": {"type": "no-info", "function": lambda v: v + 1}, "schema": INT}, "1", 2),
    ({"type": "function-before", "function": {"type": "no-info", "function": lambda v: v * 2}, "schema": INT}, "1", 11),
    ({"type": "function-wrap", "function": {"type": "no-info", "function": lambda v, inner: -inner(v)}, "schema": INT}, "1", -1),
    (config_schema(), {"act": "x"}, [("missing", ("dim",), "Field required"), ("literal_error", ("act",), "Input should be 'relu' or 'gelu'")]),
    (config_schema(extra_behavior="forbid"), {"dim": 1, "z": 1}, [("extra_forbidden", ("z",), "Extra inputs are not permitted")]),
    (config_schema(), 3, [("model_type", (), "Input should be a valid dictionary or instance of Model")]),
]  # fmt: skip


def raises(v):
    raise ValueError("no")


CASES.append(
    ({"type": "function-plain", "function": {"type": "no-info", "function": raises}}, 1, [("value_error", (), "Value error, no")])
)


def check():
    for schema, value, expected in CASES:
        found = asked(schema, value)
        assert found == expected and type(found) is type(expected), (schema, value, found, expected)
    config = asked(config_schema(extra_behavior="allow"), {"dim": "4", "more": 1})
    assert (config.dim, config.act, config.__pydantic_extra__) == (4, "relu", {"more": 1})
    assert config.__pydantic_fields_set__ == {"dim", "more"}
    own = Config()
    assert SchemaValidator(config_schema()).validate_python({"dim": 8}, self_instance=own) is own and own.dim == 8
    assert SchemaSerializer(config_schema()).to_python(own) == {"dim": 8, "act": "relu"}
    assert SchemaSerializer(config_schema()).to_json(own, exclude={"act"}) == b'{"dim":8}'
    return own


try:
    SchemaValidator({"type": "date"}).validate_python("2020-01-01")
    refuses = False
except BaseException:
    refuses = True


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(check().dim, 4)

    def forward(self, x):
        return self.fc(x)
'''
INIT = """
from ._pydantic_core import (
    ArgsKwargs, PydanticUndefined, SchemaError, SchemaSerializer, SchemaValidator, ValidationError, __version__
)
"""


def read(program, library):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/model.py"
        with open(path, "w") as file:
            file.write(program)
        command = [BIN + "/read_model", path, "Net()", "2x8", "--library", library]
        return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)


def main():
    without_date = PROGRAM[: PROGRAM.index("\ntry:\n    SchemaValidator({")] + PROGRAM[PROGRAM.index("\n\nclass Net") :]
    if "--real" in sys.argv:
        made = {"__name__": "model"}
        exec(without_date, made)
        made["Net"]()
        return 0
    failed = []
    with tempfile.TemporaryDirectory() as library:
        os.mkdir(library + "/pydantic_core")
        os.mkdir(library + "/pydantic_core-2.50.5.dist-info")
        os.mkdir(library + "/pydantic")
        for name, text in (("__init__.py", ""), ("version.py", "def version_short():\n    return '2.14'\n")):
            with open(library + "/pydantic/" + name, "w") as file:
                file.write(text)
        # A folder of stubs beside the extension, as the package has: the extension comes first.
        os.mkdir(library + "/pydantic_core/_pydantic_core")
        for name, text in (("__init__.py", INIT), ("_pydantic_core.cpython-311-x86_64-linux-gnu.so", "")):
            with open(library + "/pydantic_core/" + name, "w") as file:
                file.write(text)
        graph = read(without_date, library)
        if [record["op"] for record in graph.get("ops", ())] != ["linear"]:
            failed.append(graph.get("error", graph))
        # What is not offered is refused, and not blamed on the program.
        refused = read(PROGRAM, library)
        if "validating 'date' with pydantic is not supported" not in refused.get("error", ""):
            failed.append(refused)
    for one in failed:
        print(one)
    return 1 if failed else 0


sys.exit(main())
