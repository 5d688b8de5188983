# What a requirement says of versions: ">=1.4,!=1.5.*".
import re
from packaging.version import InvalidVersion, Version, parse


class InvalidSpecifier(ValueError):
    pass


class BaseSpecifier:
    pass


_REGEX = re.compile(r"\s*(===|==|~=|!=|<=|>=|<|>)\s*([^\s,;)]+)\s*")


def _public(version):
    return Version(version.public)


# The release of `version` to as many numbers as `like` has.
def _begins_with(version, like):
    wanted = parse(like)
    release = version.release[: len(wanted.release)]
    release += (0,) * (len(wanted.release) - len(release))
    return version.epoch == wanted.epoch and release == wanted.release


class Specifier(BaseSpecifier):
    def __init__(self, spec="", prereleases=None):
        match = _REGEX.fullmatch(spec)
        if match is None:
            raise InvalidSpecifier(f"Invalid specifier: {spec!r}")
        self.operator, self.version = match.groups()
        self._prereleases = prereleases
        if self.operator != "===":
            plain = self.version
            if plain.endswith(".*") and self.operator in ("==", "!="):
                plain = plain[:-2]
            try:
                known = parse(plain)
            except InvalidVersion:
                raise InvalidSpecifier(f"Invalid specifier: {spec!r}") from None
            if self.operator == "~=" and len(known.release) < 2:
                raise InvalidSpecifier(f"Invalid specifier: {spec!r}")

    @property
    def prereleases(self):
        if self._prereleases is not None:
            return self._prereleases
        if self.operator not in ("==", ">=", "<=", "~=", "===") or self.version.endswith(".*"):
            return False
        try:
            return parse(self.version).is_prerelease
        except InvalidVersion:
            return False

    @prereleases.setter
    def prereleases(self, value):
        self._prereleases = value

    def _matches(self, version):
        operator, text = self.operator, self.version
        if operator == "===":
            return str(version).lower() == text.lower()
        if operator in ("==", "!=") and text.endswith(".*"):
            return _begins_with(version, text[:-2]) == (operator == "==")
        wanted = parse(text)
        if operator in ("==", "!="):
            own = version if wanted.local else _public(version)
            return (own == wanted) == (operator == "==")
        if operator == "~=":
            prefix = ".".join(str(n) for n in wanted.release[:-1])
            prefix = f"{wanted.epoch}!{prefix}" if wanted.epoch else prefix
            return _public(version) >= wanted and _begins_with(version, prefix)
        if operator == "<=":
            return _public(version) <= wanted
        if operator == ">=":
            return _public(version) >= wanted
        same_base = parse(version.base_version) == parse(wanted.base_version)
        if operator == "<":
            return version < wanted and not (version.is_prerelease and not wanted.is_prerelease and same_base)
        if not version > wanted:
            return False
        if version.is_postrelease and not wanted.is_postrelease and same_base:
            return False
        return not (version.local is not None and same_base)

    def contains(self, item, prereleases=None):
        version = item if isinstance(item, Version) else parse(item)
        allowed = self.prereleases if prereleases is None else prereleases
        return (allowed or not version.is_prerelease) and self._matches(version)

    def __contains__(self, item):
        return self.contains(item)

    def filter(self, iterable, prereleases=None):
        return SpecifierSet(str(self)).filter(iterable, prereleases)

    def __str__(self):
        return self.operator + self.version

    def __repr__(self):
        return f"<Specifier('{self}')>"

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        if isinstance(other, str):
            other = Specifier(other)
        return str(self) == str(other) if isinstance(other, Specifier) else NotImplemented


class SpecifierSet(BaseSpecifier):
    def __init__(self, specifiers="", prereleases=None):
        if isinstance(specifiers, str):
            specifiers = [Specifier(s.strip()) for s in specifiers.split(",") if s.strip()]
        self._specs = tuple(dict.fromkeys(specifiers))
        self._prereleases = prereleases

    @property
    def prereleases(self):
        if self._prereleases is not None:
            return self._prereleases
        return any(s.prereleases for s in self._specs) if self._specs else None

    @prereleases.setter
    def prereleases(self, value):
        self._prereleases = value

    def contains(self, item, prereleases=None, installed=None):
        version = item if isinstance(item, Version) else parse(item)
        allowed = self.prereleases if prereleases is None else prereleases
        if version.is_prerelease and installed:
            version = parse(version.base_version)
        elif version.is_prerelease and not allowed:
            return False
        return all(s.contains(version, prereleases=True) for s in self._specs)

    def __contains__(self, item):
        return self.contains(item)

    def filter(self, iterable, prereleases=None):
        allowed = self.prereleases if prereleases is None else prereleases
        every = [v for v in iterable if self.contains(v, prereleases=True)]
        final = [v for v in every if not (v if isinstance(v, Version) else parse(v)).is_prerelease]
        return iter(every if allowed or (allowed is None and not final) else final)

    def __and__(self, other):
        if isinstance(other, str):
            other = SpecifierSet(other)
        return SpecifierSet(self._specs + other._specs, self._prereleases)

    def __len__(self):
        return len(self._specs)

    def __iter__(self):
        return iter(self._specs)

    def __str__(self):
        return ",".join(sorted(str(s) for s in self._specs))

    def __repr__(self):
        return f"<SpecifierSet('{self}')>"

    def __hash__(self):
        return hash(frozenset(self._specs))

    def __eq__(self, other):
        if isinstance(other, (str, Specifier)):
            other = SpecifierSet(str(other))
        return set(self._specs) == set(other._specs) if isinstance(other, SpecifierSet) else NotImplemented
