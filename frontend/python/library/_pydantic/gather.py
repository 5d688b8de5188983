# What pydantic must know of a schema before it puts definitions into the places that refer to them.
class MissingDefinitionError(LookupError):
    @property
    def schema_reference(self):
        return self.args[0]


_ONE = (
    "schema", "items_schema", "keys_schema", "values_schema", "lax_schema", "strict_schema", "json_schema",
    "python_schema", "extras_schema", "extras_keys_schema", "arguments_schema", "return_schema", "var_args_schema",
    "var_kwargs_schema",
)  # fmt: skip


def _parts(schema):
    for key in _ONE:
        part = schema.get(key)
        if isinstance(part, dict):
            yield part
        elif isinstance(part, (list, tuple)):
            for one in part:
                yield one["schema"] if "type" not in one or one["type"].endswith(("-field", "-parameter")) else one
    for key in ("choices", "steps"):
        found = schema.get(key)
        if found is None:
            continue
        for one in found.values() if isinstance(found, dict) else found:
            one = one[0] if isinstance(one, tuple) else one
            if isinstance(one, dict):
                yield one
    fields = schema.get("fields")
    if isinstance(fields, dict):
        fields = list(fields.values())
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, dict):
            yield field["schema"]
            if isinstance(field.get("serialization"), dict):
                yield field
    for field in schema.get("computed_fields") or ():
        yield field["return_schema"]
    how = schema.get("serialization")
    if how is not None:
        for key in ("schema", "return_schema"):
            if key in how:
                yield how[key]


def gather_schemas_for_cleaning(schema, definitions):
    references, deferred, seen = {}, [], set()

    def visit(one):
        if one["type"] == "definition-ref":
            ref = one["schema_ref"]
            if ref not in definitions:
                raise MissingDefinitionError(ref)
            if ref in references:
                references[ref] = None  # more than one place
                return
            references[ref] = one
            visit_parts(one)
            if ref not in seen:
                seen.add(ref)
                visit(definitions[ref])
                seen.discard(ref)
            return
        visit_parts(one)
        if "pydantic_internal_union_discriminator" in (one.get("metadata") or {}):
            deferred.append(one)

    def visit_parts(one):
        for part in _parts(one):
            visit(part)

    visit(schema)
    return references, deferred
