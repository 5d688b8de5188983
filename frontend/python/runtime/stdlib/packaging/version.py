class InvalidVersion(ValueError):
    pass


class Version:
    def __init__(self, version):
        text = version.strip().lower().lstrip("v")
        public, _, local = text.partition("+")
        release, pre, post, dev = [], None, None, None
        for part in public.replace("-", ".").split("."):
            digits = ""
            while part and part[0].isdigit():
                digits += part[0]
                part = part[1:]
            if digits and pre is None and post is None and dev is None:
                release.append(int(digits))
            if part:
                letters = part.rstrip("0123456789")
                number = int(part[len(letters) :] or 0)
                if letters in ("a", "alpha", "b", "beta", "rc", "c", "pre"):
                    pre = ({"a": "a", "alpha": "a", "b": "b", "beta": "b"}.get(letters, "rc"), number)
                elif letters == "post":
                    post = number
                elif letters == "dev":
                    dev = number
                else:
                    raise InvalidVersion(f"Invalid version: '{version}'")
        if not release:
            raise InvalidVersion(f"Invalid version: '{version}'")
        self.release = tuple(release)
        self.pre, self.post, self.dev = pre, post, dev
        self.local = local or None
        self._text = text

    @property
    def major(self):
        return self.release[0]

    @property
    def minor(self):
        return self.release[1] if len(self.release) > 1 else 0

    @property
    def micro(self):
        return self.release[2] if len(self.release) > 2 else 0

    @property
    def base_version(self):
        return ".".join(str(x) for x in self.release)

    @property
    def public(self):
        return self._text.split("+")[0]

    @property
    def is_prerelease(self):
        return self.pre is not None or self.dev is not None

    @property
    def is_devrelease(self):
        return self.dev is not None

    def _key(self):
        release = list(self.release)
        while release and release[-1] == 0:
            release.pop()
        if self.pre is None and self.post is None and self.dev is not None:
            pre = (-1, 0)
        elif self.pre is None:
            pre = (9, 0)
        else:
            pre = ({"a": 0, "b": 1, "rc": 2}[self.pre[0]], self.pre[1])
        return (
            release,
            pre,
            -1 if self.post is None else self.post,
            float("inf") if self.dev is None else self.dev,
            self.local or "",
        )

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<Version('{self}')>"

    def __hash__(self):
        return hash(str(self._key()))

    def __eq__(self, other):
        return self._key() == other._key() if isinstance(other, Version) else NotImplemented

    def __lt__(self, other):
        return self._key() < other._key() if isinstance(other, Version) else NotImplemented

    def __le__(self, other):
        return self._key() <= other._key() if isinstance(other, Version) else NotImplemented

    def __gt__(self, other):
        return self._key() > other._key() if isinstance(other, Version) else NotImplemented

    def __ge__(self, other):
        return self._key() >= other._key() if isinstance(other, Version) else NotImplemented


LegacyVersion = Version


def parse(version):
    return Version(version)
