# "name[extra]>=1.2; python_version < '3.9'"
import re
from _cobra import unsupported
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

_REGEX = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[(?P<extras>[^\]]*)\])?\s*"
    r"(?:@\s*(?P<url>\S+)|\(?(?P<specifier>[^;()]*)\)?)\s*(?:;(?P<marker>.*))?"
)


class InvalidRequirement(ValueError):
    pass


class _Marker:
    def __init__(self, text):
        self._text = text

    def evaluate(self, environment=None):
        unsupported("evaluating the marker of a requirement")

    def __str__(self):
        return self._text


class Requirement:
    def __init__(self, requirement_string):
        match = _REGEX.fullmatch(requirement_string)
        if match is None:
            raise InvalidRequirement(f"Invalid requirement: {requirement_string!r}")
        self.name, self.url = match["name"], match["url"]
        self.extras = {e.strip() for e in (match["extras"] or "").split(",") if e.strip()}
        try:
            self.specifier = SpecifierSet(match["specifier"] or "")
        except InvalidSpecifier as e:
            raise InvalidRequirement(str(e)) from e
        self.marker = _Marker(match["marker"].strip()) if match["marker"] else None

    def __str__(self):
        text = self.name
        if self.extras:
            text += "[" + ",".join(sorted(self.extras)) + "]"
        text += str(self.specifier)
        if self.url:
            text += f"@ {self.url}"
        return text if self.marker is None else f"{text}; {self.marker}"

    def __repr__(self):
        return f"<Requirement('{self}')>"

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        if not isinstance(other, Requirement):
            return NotImplemented
        return (
            canonicalize_name(self.name) == canonicalize_name(other.name)
            and str(self)[len(self.name) :] == str(other)[len(other.name) :]
        )
