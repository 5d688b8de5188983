"""urllib.parse as CPython has it for str: names of models and checkpoints are taken apart with it.
Bytes are not supported."""
import re
from collections import namedtuple

uses_relative = [
    "",
    "ftp",
    "http",
    "gopher",
    "nntp",
    "imap",
    "wais",
    "file",
    "https",
    "shttp",
    "mms",
    "prospero",
    "rtsp",
    "rtspu",
    "sftp",
    "svn",
    "svn+ssh",
    "ws",
    "wss",
]
uses_netloc = [
    "",
    "ftp",
    "http",
    "gopher",
    "nntp",
    "telnet",
    "imap",
    "wais",
    "file",
    "mms",
    "https",
    "shttp",
    "snews",
    "prospero",
    "rtsp",
    "rtspu",
    "rsync",
    "svn",
    "svn+ssh",
    "sftp",
    "nfs",
    "git",
    "git+ssh",
    "ws",
    "wss",
]
uses_params = [
    "",
    "ftp",
    "hdl",
    "prospero",
    "http",
    "imap",
    "https",
    "shttp",
    "rtsp",
    "rtspu",
    "sip",
    "sips",
    "mms",
    "sftp",
    "tel",
]
_SCHEME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")


class _Netloc:
    def _host(self):
        _, _, host = self.netloc.rpartition("@")
        if "[" in host:
            name, _, rest = host.partition("[")[2].partition("]")
            return name, rest.partition(":")[2] or None
        name, _, port = host.partition(":")
        return name, port or None

    @property
    def username(self):
        info, at, _ = self.netloc.rpartition("@")
        return info.partition(":")[0] if at else None

    @property
    def password(self):
        info, at, _ = self.netloc.rpartition("@")
        _, colon, word = info.partition(":")
        return word if at and colon else None

    @property
    def hostname(self):
        name = self._host()[0]
        return name.lower() if name else None

    @property
    def port(self):
        port = self._host()[1]
        if port is None:
            return None
        if not (port.isdigit() and port.isascii()):
            raise ValueError(f"Port could not be cast to integer value as {port!r}")
        if int(port) > 65535:
            raise ValueError("Port out of range 0-65535")
        return int(port)


class SplitResult(namedtuple("SplitResult", "scheme netloc path query fragment"), _Netloc):
    __slots__ = ()

    def geturl(self):
        return urlunsplit(self)


class ParseResult(namedtuple("ParseResult", "scheme netloc path params query fragment"), _Netloc):
    __slots__ = ()

    def geturl(self):
        return urlunparse(self)


class DefragResult(namedtuple("DefragResult", "url fragment")):
    __slots__ = ()

    def geturl(self):
        return self.url + "#" + self.fragment if self.fragment else self.url


def urlsplit(url, scheme="", allow_fragments=True):
    for c in "\t\r\n":
        url, scheme = url.replace(c, ""), scheme.replace(c, "")
    url = url.lstrip("".join(map(chr, range(33))))
    netloc = query = fragment = ""
    colon = url.find(":")
    if colon > 0 and url[0].isascii() and url[0].isalpha() and all(c in _SCHEME for c in url[:colon]):
        scheme, url = url[:colon].lower(), url[colon + 1 :]
    if url[:2] == "//":
        end = min([url.find(c, 2) for c in "/?#" if url.find(c, 2) >= 0], default=len(url))
        netloc, url = url[2:end], url[end:]
        if ("[" in netloc) != ("]" in netloc):
            raise ValueError("Invalid IPv6 URL")
    if allow_fragments and "#" in url:
        url, fragment = url.split("#", 1)
    if "?" in url:
        url, query = url.split("?", 1)
    return SplitResult(scheme, netloc, url, query, fragment)


def urlparse(url, scheme="", allow_fragments=True):
    scheme, netloc, path, query, fragment = urlsplit(url, scheme, allow_fragments)
    params = ""
    if scheme in uses_params and ";" in path:
        semicolon = path.find(";", path.rfind("/") if "/" in path else 0)
        if semicolon >= 0:
            path, params = path[:semicolon], path[semicolon + 1 :]
    return ParseResult(scheme, netloc, path, params, query, fragment)


def urlunsplit(components):
    scheme, netloc, url, query, fragment = components
    if netloc or (scheme and scheme in uses_netloc and url[:2] != "//"):
        if url and url[:1] != "/":
            url = "/" + url
        url = "//" + (netloc or "") + url
    if scheme:
        url = scheme + ":" + url
    if query:
        url = url + "?" + query
    return url + "#" + fragment if fragment else url


def urlunparse(components):
    scheme, netloc, url, params, query, fragment = components
    return urlunsplit((scheme, netloc, f"{url};{params}" if params else url, query, fragment))


def urldefrag(url):
    if "#" not in url:
        return DefragResult(url, "")
    s, n, p, a, q, fragment = urlparse(url)
    return DefragResult(urlunparse((s, n, p, a, q, "")), fragment)


def urljoin(base, url, allow_fragments=True):
    if not base:
        return url
    if not url:
        return base
    bscheme, bnetloc, bpath, bparams, bquery, bfragment = urlparse(base, "", allow_fragments)
    scheme, netloc, path, params, query, fragment = urlparse(url, bscheme, allow_fragments)
    if scheme != bscheme or scheme not in uses_relative:
        return url
    if scheme in uses_netloc:
        if netloc:
            return urlunparse((scheme, netloc, path, params, query, fragment))
        netloc = bnetloc
    if not path and not params:
        return urlunparse((scheme, netloc, bpath, bparams, query or bquery, fragment))
    base_parts = bpath.split("/")
    if base_parts[-1] != "":
        del base_parts[-1]
    segments = path.split("/") if path[:1] == "/" else base_parts + path.split("/")
    if path[:1] != "/":
        segments[1:-1] = filter(None, segments[1:-1])
    resolved = []
    for segment in segments:
        if segment == "..":
            if resolved:
                resolved.pop()
        elif segment != ".":
            resolved.append(segment)
    if segments[-1] in (".", ".."):
        resolved.append("")
    return urlunparse((scheme, netloc, "/".join(resolved) or "/", params, query, fragment))


def quote(string, safe="/", encoding=None, errors=None):
    keep = _SAFE | set(safe)
    return "".join(
        c if c in keep else "".join(f"%{b:02X}" for b in c.encode(encoding or "utf-8", errors or "strict"))
        for c in string
    )


def quote_plus(string, safe="", encoding=None, errors=None):
    return quote(string, safe + " ", encoding, errors).replace(" ", "+")


def unquote(string, encoding="utf-8", errors="replace"):
    def decoded(match):
        return bytes(int(h, 16) for h in match.group(0)[1:].split("%")).decode(encoding, errors)

    return re.sub("(?:%[0-9a-fA-F]{2})+", decoded, string) if "%" in string else string


def unquote_plus(string, encoding="utf-8", errors="replace"):
    return unquote(string.replace("+", " "), encoding, errors)


def urlencode(query, doseq=False, safe="", encoding=None, errors=None, quote_via=quote_plus):
    pairs = []
    for k, v in query.items() if hasattr(query, "items") else query:
        for one in v if doseq and not isinstance(v, str) and hasattr(v, "__iter__") else [v]:
            pairs.append(quote_via(str(k), safe, encoding, errors) + "=" + quote_via(str(one), safe, encoding, errors))
    return "&".join(pairs)


def parse_qsl(
    qs,
    keep_blank_values=False,
    strict_parsing=False,
    encoding="utf-8",
    errors="replace",
    max_num_fields=None,
    separator="&",
):
    out = []
    for field in qs.split(separator):
        name, equal, value = field.partition("=")
        if not equal and field and strict_parsing:
            raise ValueError(f"bad query field: {field!r}")
        if field and (value or keep_blank_values):
            out.append((unquote_plus(name, encoding, errors), unquote_plus(value, encoding, errors)))
    return out


def parse_qs(
    qs,
    keep_blank_values=False,
    strict_parsing=False,
    encoding="utf-8",
    errors="replace",
    max_num_fields=None,
    separator="&",
):
    out = {}
    for name, value in parse_qsl(qs, keep_blank_values, strict_parsing, encoding, errors, max_num_fields, separator):
        out.setdefault(name, []).append(value)
    return out
