whitespace = ' \t\n\r\v\f'
ascii_lowercase = 'abcdefghijklmnopqrstuvwxyz'
ascii_uppercase = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
ascii_letters = ascii_lowercase + ascii_uppercase
digits = '0123456789'
hexdigits = digits + 'abcdef' + 'ABCDEF'
octdigits = '01234567'
punctuation = r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or ' ').join(x.capitalize() for x in s.split(sep))


class Template:
    def __init__(self, template):
        self.template = template

    def _run(self, values, safe):
        out, i, t = [], 0, self.template
        while i < len(t):
            if t[i] != '$':
                out.append(t[i])
                i += 1
                continue
            if t[i + 1:i + 2] == '$':
                out.append('$')
                i += 2
                continue
            braced = t[i + 1:i + 2] == '{'
            j = i + 2 if braced else i + 1
            k = j
            while k < len(t) and (t[k].isalnum() or t[k] == '_'):
                k += 1
            name = t[j:k]
            end = k + 1 if braced else k
            if name in values:
                out.append(str(values[name]))
            elif safe or not name:
                out.append(t[i:end])
            else:
                raise KeyError(name)
            i = max(end, i + 1)
        return ''.join(out)

    def substitute(self, mapping={}, /, **kws):
        return self._run({**mapping, **kws}, False)

    def safe_substitute(self, mapping={}, /, **kws):
        return self._run({**mapping, **kws}, True)
