def dedent(text):
    lines = text.split("\n")
    margin = None
    for line in lines:
        stripped = line.lstrip(" \t")
        if not stripped:
            continue
        indent = line[: len(line) - len(stripped)]
        if margin is None:
            margin = indent
        else:
            n = 0
            while n < len(margin) and n < len(indent) and margin[n] == indent[n]:
                n += 1
            margin = margin[:n]
    margin = margin or ""
    return "\n".join(line[len(margin) :] if line.strip(" \t") else "" for line in lines)


def indent(text, prefix, predicate=None):
    test = predicate if predicate is not None else (lambda line: line.strip())
    return "".join(prefix + line if test(line) else line for line in text.splitlines(True))


def wrap(text, width=70, **kwargs):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return lines


def fill(text, width=70, **kwargs):
    return "\n".join(wrap(text, width, **kwargs))


def shorten(text, width, placeholder=" [...]", **kwargs):
    text = " ".join(text.split())
    if len(text) <= width:
        return text
    words, out = text.split(), ""
    for w in words:
        if len(out) + 1 + len(w) + len(placeholder) > width:
            break
        out = f"{out} {w}" if out else w
    return out + placeholder if out else placeholder.lstrip()


class TextWrapper:
    def __init__(self, width=70, initial_indent="", subsequent_indent="", **kwargs):
        self.width = width
        self.initial_indent = initial_indent
        self.subsequent_indent = subsequent_indent
        for name, value in kwargs.items():
            setattr(self, name, value)

    def wrap(self, text):
        lines = wrap(self.initial_indent + text.strip(), self.width - len(self.subsequent_indent))
        return [self.subsequent_indent + line if i else line for i, line in enumerate(lines)]

    def fill(self, text):
        return "\n".join(self.wrap(text))
