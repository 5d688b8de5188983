import re


class NumpyVersion:
    """A version of NumPy, for comparisons with others and with their texts."""

    def __init__(self, vstring):
        self.vstring = vstring
        numbers = re.match(r"\d+\.\d+\.\d+", vstring)
        if not numbers:
            raise ValueError("Not a valid numpy version string")
        self.version = numbers.group()
        self.major, self.minor, self.bugfix = map(int, self.version.split("."))
        rest = vstring[len(self.version) :]
        found = re.match(r"(a|b|rc)\d", rest)
        self.pre_release = found.group() if found else "final" if not rest else ""
        self.is_devversion = ".dev" in vstring

    def _key(self):
        final = self.pre_release == "final"
        return self.major, self.minor, self.bugfix, final, self.pre_release, not self.is_devversion

    def _compare(self, other):
        if not isinstance(other, (str, NumpyVersion)):
            raise ValueError("Invalid object to compare with NumpyVersion.")
        mine, others = self._key(), (NumpyVersion(other) if isinstance(other, str) else other)._key()
        return (mine > others) - (mine < others)

    def __lt__(self, other):
        return self._compare(other) < 0

    def __le__(self, other):
        return self._compare(other) <= 0

    def __eq__(self, other):
        return self._compare(other) == 0

    def __ne__(self, other):
        return self._compare(other) != 0

    def __gt__(self, other):
        return self._compare(other) > 0

    def __ge__(self, other):
        return self._compare(other) >= 0

    def __repr__(self):
        return "NumpyVersion(%s)" % self.vstring
