# Versions as PEP 440 writes them.
import re

VERSION_PATTERN = r"""
    v?
    (?:
        (?:(?P<epoch>[0-9]+)!)?
        (?P<release>[0-9]+(?:\.[0-9]+)*)
        (?P<pre>
            [-_\.]?
            (?P<pre_l>alpha|beta|preview|pre|a|b|c|rc)
            [-_\.]?
            (?P<pre_n>[0-9]+)?
        )?
        (?P<post>
            (?:-(?P<post_n1>[0-9]+))
            |
            (?:
                [-_\.]?
                (?P<post_l>post|rev|r)
                [-_\.]?
                (?P<post_n2>[0-9]+)?
            )
        )?
        (?P<dev>
            [-_\.]?
            (?P<dev_l>dev)
            [-_\.]?
            (?P<dev_n>[0-9]+)?
        )?
    )
    (?:\+(?P<local>[a-z0-9]+(?:[-_\.][a-z0-9]+)*))?
"""
_REGEX = re.compile(r"\s*" + VERSION_PATTERN + r"\s*", re.VERBOSE | re.IGNORECASE)
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]+)*")  # most are
_LETTERS = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}
_ORDER = {"a": 0, "b": 1, "rc": 2}


class InvalidVersion(ValueError):
    pass


def _local_parts(text):
    parts = text.lower().replace("-", ".").replace("_", ".").split(".")
    return tuple(int(p) if p.isdigit() else p for p in parts)


class Version:
    def __init__(self, version):
        self.epoch, self.pre, self.post, self.dev, self._local = 0, None, None, None, None
        if _PLAIN.fullmatch(version):
            self.release = tuple(int(n) for n in version.split("."))
        else:
            self._parse(version)
        self._sort_key = None

    def _parse(self, version):
        match = _REGEX.fullmatch(version)
        if match is None:
            raise InvalidVersion(f"Invalid version: {version!r}")
        part = match.groupdict()
        self.epoch = int(part["epoch"] or 0)
        self.release = tuple(int(n) for n in part["release"].split("."))
        if part["pre"]:
            letters = part["pre_l"].lower()
            self.pre = (_LETTERS.get(letters, letters), int(part["pre_n"] or 0))
        if part["post"]:
            self.post = int(part["post_n1"] or part["post_n2"] or 0)
        if part["dev"]:
            self.dev = int(part["dev_n"] or 0)
        if part["local"]:
            self._local = _local_parts(part["local"])

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
    def local(self):
        return None if self._local is None else ".".join(str(p) for p in self._local)

    @property
    def base_version(self):
        return (f"{self.epoch}!" if self.epoch else "") + ".".join(str(n) for n in self.release)

    @property
    def public(self):
        text = self.base_version
        if self.pre is not None:
            text += f"{self.pre[0]}{self.pre[1]}"
        if self.post is not None:
            text += f".post{self.post}"
        return text if self.dev is None else f"{text}.dev{self.dev}"

    @property
    def is_prerelease(self):
        return self.pre is not None or self.dev is not None

    @property
    def is_postrelease(self):
        return self.post is not None

    @property
    def is_devrelease(self):
        return self.dev is not None

    @property
    def _key(self):
        if self._sort_key is None:
            self._sort_key = self._make_key()
        return self._sort_key

    def _make_key(self):
        release = self.release
        while len(release) > 1 and release[-1] == 0:
            release = release[:-1]
        if self.pre is not None:
            pre = (_ORDER[self.pre[0]], self.pre[1])
        else:  # 1.0.dev1 comes before 1.0a1, and 1.0 after it
            pre = (-1, 0) if self.post is None and self.dev is not None else (3, 0)
        local = (
            () if self._local is None else tuple((1, p, "") if isinstance(p, int) else (0, 0, p) for p in self._local)
        )
        return (
            self.epoch,
            release,
            pre,
            -1 if self.post is None else self.post,
            (1, 0) if self.dev is None else (0, self.dev),
            self._local is not None,
            local,
        )

    def __str__(self):
        return self.public if self._local is None else f"{self.public}+{self.local}"

    def __repr__(self):
        return f"<Version('{self}')>"

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return self._key == other._key if isinstance(other, Version) else NotImplemented

    def __ne__(self, other):
        return self._key != other._key if isinstance(other, Version) else NotImplemented

    def __lt__(self, other):
        return self._key < other._key if isinstance(other, Version) else NotImplemented

    def __le__(self, other):
        return self._key <= other._key if isinstance(other, Version) else NotImplemented

    def __gt__(self, other):
        return self._key > other._key if isinstance(other, Version) else NotImplemented

    def __ge__(self, other):
        return self._key >= other._key if isinstance(other, Version) else NotImplemented


LegacyVersion = Version


def parse(version):
    return Version(version)
