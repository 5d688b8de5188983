"""A light reader of C++ for the tests of the tree itself: which scopes a source opens and what it
defines in them.

It knows comments, strings, preprocessor lines, brackets and the heads before them; clang-formatted code needs no more.
The bodies of functions are skipped, with the lambdas and local types in them.
"""
import dataclasses
import re

LITERAL = re.compile(
    r"//(?:[^\n\\]|\\.|\\\n)*"
    r"|/\*.*?\*/"
    r'|R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+'",  # not the separator of 1'000
    re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE | re.DOTALL)
TOKEN = re.compile(r"[A-Za-z_]\w*|[0-9][\w.]*|::|->|&&|[=!<>+\-*/%&|^]=|\S")
OPENING, CLOSING = ("(", "[", "{"), (")", "]", "}")
TYPES = ("class", "struct", "union", "enum")
# Words before a parenthesis that is not a function's.
NOT_A_FUNCTION = {"alignas", "decltype", "noexcept", "__attribute__", "requires"}


@dataclasses.dataclass
class Token:
    text: str
    line: int


@dataclasses.dataclass
class Definition:
    """Of a type, alias, variable or function; or, without a body, a declaration of a type, function
    or variable."""

    kind: str  # type, alias, variable, function
    name: str  # with the classes around it: Outer::Inner
    namespace: str  # cobra::graph; a nameless part reads (anonymous)
    in_class: bool
    line: int  # of its first word, template<> apart
    end: int  # of its closing brace or semicolon
    has_body: bool
    parameters: tuple  # the types that a function takes, without namespaces
    specialises: bool  # a template
    c_linkage: bool


def code_of(text):
    """`text` with spaces for comments, directives and what stands in literals. Of an #if with an
    #else the first branch counts."""

    def blank(piece):
        return re.sub(r"[^\n]", " ", piece)

    def without_literal(match):
        literal = match[0]
        return blank(literal) if literal[0] == "/" else literal[-1] + blank(literal[2:]) + literal[-1]

    text = LITERAL.sub(without_literal, text)
    pieces, end, depth, left_out = [], 0, 0, None
    for match in DIRECTIVE.finditer(text):
        between = text[end : match.start()]
        pieces += [between if left_out is None else blank(between), blank(match[0])]
        end = match.end()
        if match[1] in ("if", "ifdef", "ifndef"):
            depth += 1
        elif match[1] in ("else", "elif") and left_out is None:
            left_out = depth
        elif match[1] == "endif":
            left_out = None if left_out == depth else left_out
            depth -= 1
    return "".join(pieces + [text[end:]])


def tokens_of(text):
    code, line, at, found = code_of(text), 1, 0, []
    for match in TOKEN.finditer(code):
        line += code.count("\n", at, match.start())
        at = match.start()
        found.append(Token(match[0], line))
    return found


def is_name(word):
    return word[0].isalpha() or word[0] == "_"


def after_angles(words, at):
    """Where the list of template arguments that begins at `at` ends; `at` where it is none."""
    depth = 0
    for end in range(at, len(words)):
        if words[end] in OPENING:
            depth += 1000
        elif words[end] in CLOSING:
            depth -= 1000
        elif words[end] == "<" and depth < 1000:
            depth += 1
        elif words[end] == ">" and depth < 1000:
            depth -= 1
        if depth == 0:
            return end + 1
        if depth < 0:
            break
    return at


def top_level(words):
    """The positions of the words outside of brackets, with the brackets themselves; template
    arguments are left out."""
    found, at, depth = [], 0, 0
    while at < len(words):
        if words[at] in CLOSING:
            depth -= 1
        if depth == 0:
            if words[at] == "<" and at > 0 and is_name(words[at - 1]) and words[at - 1] != "operator":
                end = after_angles(words, at)
                if end > at:
                    at = end
                    continue
            found.append(at)
        if words[at] in OPENING:
            depth += 1
        at += 1
    return found


def without_prefix(head):
    """A declaration without its `template <...>` and [[attributes]], and whether it specialises a
    template."""
    specialises = False
    while head:
        words = [token.text for token in head[:64]]
        if words[:2] == ["template", "<"]:
            specialises = specialises or words[2:3] == [">"]
            head = head[after_angles([token.text for token in head], 1) :]
        elif words[:2] == ["[", "["]:
            end = next(at for at, word in enumerate(words) if word == "]" and words[at + 1] == "]")
            head = head[end + 2 :]
        else:
            break
    return head, specialises


def function_at(words, flat):
    """Name and position of the parenthesis of the function that `words` declare; None where they
    declare none."""
    for at in flat:
        if words[at] in ("=", "{"):
            return None
        if words[at] == "operator":
            opening = words.index("(", at + 1)
            if opening == at + 1:  # operator()
                opening += 2
            return qualified("operator" + "".join(words[at + 1 : opening]), words, at), opening
        if words[at] == "(" and at > 0 and (is_name(words[at - 1]) or words[at - 1] == ">"):
            name = at - 1
            if words[name] == ">":
                name = next(
                    start - 1 for start in range(at) if words[start] == "<" and after_angles(words, start) == at
                )
            if words[name] in NOT_A_FUNCTION:
                continue
            start, text = name, words[name]
            if name > 0 and words[name - 1] == "~":
                start, text = name - 1, "~" + text
            return qualified(text, words, start), at
    return None


def qualified(name, words, at):
    """`name`, which stands at `at`, with the `Outer<T>::` before it."""
    while at > 1 and words[at - 1] == "::":
        start = at - 2
        if words[start] == ">":
            start = next((s - 1 for s in range(start) if words[s] == "<" and after_angles(words, s) == at - 1), 0)
        if not is_name(words[start]):
            break
        name, at = words[start] + "::" + name, start
    return name


def parameter_types(words, opening):
    """The types of the parameters in the parenthesis at `opening`."""
    parameters, depth, angles = [[]], 0, 0
    for word in words[opening + 1 :]:
        depth += word in OPENING
        depth -= word in CLOSING
        if depth < 0:
            break
        angles += (word == "<") - (word == ">")
        if word == "," and depth == 0 and angles == 0:
            parameters.append([])
        else:
            parameters[-1].append(word)
    return tuple(" ".join(type_of(parameter)) for parameter in parameters if parameter)


def type_of(parameter):
    """`const Graph &` of `const graph::Graph& graph = {}`."""
    words = parameter[: parameter.index("=")] if "=" in parameter else parameter
    if len(words) > 1 and is_name(words[-1]) and words[-2] not in ("::", "const", "unsigned"):
        words = words[:-1]
    return [word for at, word in enumerate(words) if word != "::" and words[at + 1 : at + 2] != ["::"]]


def type_name(words, flat):
    """`Name` in `class ABSL_LOCKABLE Name final : public Base`; "" where there is none."""
    begun, name = False, ""
    for at in flat:
        if words[at] in TYPES:
            begun = True
        elif begun and words[at] in (":", "final"):
            break
        elif begun and is_name(words[at]):
            name = qualified(words[at], words, at)
    return name


def variable_name(words, flat):
    """`kWidth` of `const std::array<int, 2> kWidth = ...`; "" where the words declare no
    variable."""
    end = next((place for place, at in enumerate(flat) if words[at] in ("=", "{", "[", "(")), len(flat))
    if end < 2 or not is_name(words[flat[end - 1]]):
        return ""
    return qualified(words[flat[end - 1]], words, flat[end - 1])


class Scanner:
    """Walks the scopes of namespaces and classes and collects what they define."""

    def __init__(self, text):
        self.tokens = tokens_of(text)
        self.at = 0
        self.found = []
        self.namespaces, self.classes = [], []
        self.c_linkage = 0  # how many extern "C" { stand around

    def scope(self):
        """Everything up to the brace that closes the scope; returns its line."""
        head = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == "}":
                self.at += 1
                return token.line
            if token.text == "{":
                head = self.brace(head)
            elif token.text in OPENING:
                head = head + self.brackets()
            else:
                self.at += 1
                if token.text == ";":
                    self.declaration(head, token.line)
                    head = []
                elif token.text == ":" and len(head) == 1 and head[0].text in ("public", "protected", "private"):
                    head = []
                else:
                    head.append(token)
        return self.tokens[-1].line if self.tokens else 1

    def brackets(self):
        """The tokens from an opening bracket to the one that closes it."""
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            depth += self.tokens[self.at].text in OPENING
            depth -= self.tokens[self.at].text in CLOSING
            self.at += 1
            if depth == 0:
                break
        return self.tokens[start : self.at]

    def brace(self, head):
        """What a brace begins; returns the head that goes on after it."""
        inner, specialises = without_prefix(head)
        words = [token.text for token in inner]
        if "namespace" in words[:2]:
            return self.named_scope(
                self.namespaces, "".join(words).replace("inline", "").replace("namespace", "", 1) or "(anonymous)"
            )
        if words[:1] == ["extern"] and not any(is_name(word) for word in words[1:]):
            self.c_linkage += 1
            self.at += 1
            self.scope()
            self.c_linkage -= 1
            return []
        flat = top_level(words)
        function = function_at(words, flat)
        if function is None and any(words[at] in TYPES for at in flat) and not any(words[at] == "=" for at in flat):
            self.type(inner, words, flat, specialises)
            return head  # until its semicolon
        if function is None or not is_body(words, flat, function[1]):
            return head + self.brackets()  # an initialiser
        end = self.brackets()[-1].line
        self.add("function", function[0], inner, end, True, specialises, parameter_types(words, function[1]))
        return []

    def named_scope(self, scopes, name):
        self.at += 1
        scopes.append(name)
        end = self.scope()
        scopes.pop()
        self.closed_at = end
        return []

    def type(self, head, words, flat, specialises):
        name = type_name(words, flat)
        if "enum" in words:
            self.closed_at = self.brackets()[-1].line
        else:
            self.named_scope(self.classes, name or "(unnamed)")
        if name and words[0] != "typedef":
            # Template arguments after the name: flat leaves them out.
            specialises = specialises or any(words[at] == name and words[at + 1 : at + 2] == ["<"] for at in flat)
            self.add("type", name, head, self.closed_at, True, specialises)

    def declaration(self, head, end):
        head, specialises = without_prefix(head)
        words = [token.text for token in head]
        if not words or words[0] in ("friend", "static_assert", "template", "typedef", "namespace"):
            return
        if words[0] == "using":
            if words[2:3] == ["="]:
                self.add("alias", words[1], head, end, True, specialises)
            return
        flat = top_level(words)
        function = function_at(words, flat)
        if function:
            self.add("function", function[0], head, end, False, specialises, parameter_types(words, function[1]))
        elif words[0] in TYPES:
            if len(words) == 2:
                self.add("type", words[1], head, end, False, specialises)
        elif variable_name(words, flat):
            self.add("variable", variable_name(words, flat), head, end, words[0] != "extern", specialises)

    def add(self, kind, name, head, end, has_body, specialises, parameters=()):
        self.found.append(
            Definition(
                kind=kind,
                name="::".join(self.classes + [name]),
                namespace="::".join(self.namespaces),
                in_class=bool(self.classes),
                line=head[0].line,
                end=end,
                has_body=has_body,
                parameters=parameters,
                specialises=specialises,
                c_linkage=self.c_linkage > 0 or [token.text for token in head[:2]] == ["extern", '"'],
            )
        )


def is_body(words, flat, opening):
    """Whether the brace after `words`, whose function's parameters begin at `opening`, begins its
    body: not an initialiser of a member."""
    closing = next(place for place, at in enumerate(flat) if at > opening and words[at] == ")")
    if any(words[at] == ":" for at in flat[closing:]):
        return words[-1] in (")", "}")
    return True


def definitions_of(text):
    """What a source defines at the scope of namespaces and classes, in the order in which it
    ends."""
    scanner = Scanner(text)
    scanner.scope()
    return scanner.found
