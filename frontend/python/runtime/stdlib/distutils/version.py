import re


class Version:
    def __init__(self, vstring=None):
        if vstring:
            self.parse(vstring)

    def __repr__(self):
        return f"{type(self).__name__} ('{self}')"

    def _compared(self, other, operation):
        c = self._cmp(other)
        return c if c is NotImplemented else operation(c)

    def __eq__(self, other):
        return self._compared(other, lambda c: c == 0)

    def __lt__(self, other):
        return self._compared(other, lambda c: c < 0)

    def __le__(self, other):
        return self._compared(other, lambda c: c <= 0)

    def __gt__(self, other):
        return self._compared(other, lambda c: c > 0)

    def __ge__(self, other):
        return self._compared(other, lambda c: c >= 0)


class StrictVersion(Version):
    version_re = re.compile(r"^(\d+) \. (\d+) (\. (\d+))? ([ab](\d+))?$", re.VERBOSE | re.ASCII)

    def parse(self, vstring):
        match = self.version_re.match(vstring)
        if not match:
            raise ValueError("invalid version number '%s'" % vstring)
        major, minor, patch, prerelease, number = match.group(1, 2, 4, 5, 6)
        self.version = int(major), int(minor), int(patch or 0)
        self.prerelease = (prerelease[0], int(number)) if prerelease else None

    def __str__(self):
        shown = self.version if self.version[2] else self.version[:2]
        text = ".".join(map(str, shown))
        return text + self.prerelease[0] + str(self.prerelease[1]) if self.prerelease else text

    def _cmp(self, other):
        if isinstance(other, str):
            other = StrictVersion(other)
        elif not isinstance(other, StrictVersion):
            return NotImplemented
        a, b = (self.version, self.prerelease or ("c", 0)), (other.version, other.prerelease or ("c", 0))
        return (a > b) - (a < b)


class LooseVersion(Version):
    component_re = re.compile(r"(\d+ | [a-z]+ | \.)", re.VERBOSE)

    def parse(self, vstring):
        self.vstring = vstring
        parts = [part for part in self.component_re.split(vstring) if part and part != "."]
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self):
        return self.vstring

    def __repr__(self):
        return f"LooseVersion ('{self}')"

    def _cmp(self, other):
        if isinstance(other, str):
            other = LooseVersion(other)
        elif not isinstance(other, LooseVersion):
            return NotImplemented
        return (self.version > other.version) - (self.version < other.version)
