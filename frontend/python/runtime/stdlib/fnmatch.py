import re


def translate(pat):
    out, i = "", 0
    while i < len(pat):
        c = pat[i]
        i += 1
        if c == "*":
            out += ".*"
        elif c == "?":
            out += "."
        elif c == "[":
            j = pat.find("]", i + 1)
            if j < 0:
                out += "\\["
            else:
                stuff = pat[i:j].replace("\\", "\\\\")
                i = j + 1
                out += "[" + ("^" + stuff[1:] if stuff[0] == "!" else stuff) + "]"
        else:
            out += re.escape(c)
    return "(?s:" + out + ")\\Z"


def fnmatchcase(name, pat):
    return re.fullmatch("(?s:" + translate(pat)[4:-3] + ")", name) is not None


fnmatch = fnmatchcase


def filter(names, pat):
    return [n for n in names if fnmatchcase(n, pat)]
