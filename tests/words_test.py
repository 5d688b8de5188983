#!/usr/bin/env python3
"""Words that are not to come back, and sentences that have to be read twice.

    words_test.py [ROOT]     exit 0: there are none, 1: they are listed, each with file and line
tests/words.txt lists the words: identifiers (with a capital inside or an underscore) are looked for
in the code, words and phrases in the documents, and in the comments and texts of the code. A
sentence of a document has at most 40 words, a line 100 columns; code, tables, headings and
documents that a program has written do not count.
"""
import io
import os
import re
import sys
import tempfile
import tokenize

from cpp_source import LITERAL
from layering_test import root_asked_for, sources

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.txt")
MOST_WORDS, COLUMNS = 40, 100
# Documents that a program writes.
GENERATED = (
    "lab/results/",
    "docs/long-tests.md",
    "docs/ncnn_support.md",
    "docs/ncnn_export.md",
    "docs/onnx_export.md",
    "docs/onnx_support.md",
    "docs/tflite_support.md",
    "docs/torch_support.md",
    "docs/torchvision_models.md",
)
CODE = (".cc", ".h", ".def", ".inc", ".proto", ".py", ".sh", ".txt", ".cmake")
# Texts of others, and programs that are there to be strange.
NOT_OURS = (
    "data/",
    "tests/words.txt",
    "tests/words_test.py",
    "tests/frontend/python/runtime/testdata/",
    "tests/frontend/python/torch/goldens/",
)


def read_list(path):
    """Identifiers and phrases, each with what to write instead."""
    identifiers, phrases = {}, {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                word, _, instead = line.partition("->")
                word = word.strip()
                is_identifier = " " not in word and (re.search(r"[a-z][A-Z]", word) or "_" in word)
                (identifiers if is_identifier else phrases)[word] = instead.strip()
    return identifiers, phrases


class Finder:
    """Any of some words in a text."""

    def __init__(self, words, flags=0):
        # A phrase may be broken over two lines, in comments too.
        texts = [
            re.escape(word).replace(r"\ ", r"\s+(?:(?://|#)\s*)?") for word in sorted(words, key=len, reverse=True)
        ]
        self.pattern = re.compile(r"(?<![\w-])(?:%s)(?![\w-])" % "|".join(texts), flags) if words else None
        self.instead = {" ".join(word.lower().split()): instead for word, instead in words.items()}

    def find(self, path, text):
        if self.pattern is None:
            return
        for match in self.pattern.finditer(text):
            word = " ".join(re.sub(r"//|#", " ", match[0]).split())
            instead = self.instead[word.lower()]
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {word!r}" + (f": {instead}" if instead else "")


# "x is no number": an engineer writes "is not a number".
IS_NO = re.compile(
    r"\bis\s+(?:(?://|#)\s*)?no\s+(?:(?://|#)\s*)?"
    r"(?:number|message|call|text|file|tensor|directory|model|key|member|list|string|name|graph|target)\b(?!'s)",
    re.IGNORECASE,
)


def negated_nouns(path, text):
    for match in IS_NO.finditer(text):
        before = re.sub(r"[\s/#]+$", "", text[max(0, match.start() - 40) : match.start()]).lower()
        if not before.endswith("there"):
            yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {' '.join(match[0].split())!r}: is not a ..."


def documents(root):
    for path in sources(root, (".md",)):
        if "/" not in path or path.startswith(("docs/", "lab/tables.md")) and not path.startswith(GENERATED):
            yield path


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def prose_of(markdown):
    """A document without code, tables, headings and addresses; every line keeps its number."""
    text = re.sub(r"^(```|~~~).*?^\1[^\n]*$", lambda match: blank(match[0]), markdown, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4,}\S|\s*\||#|<)[^\n]*$", lambda match: blank(match[0]), text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)\n]*\)", lambda match: "]" + blank(match[0][1:]), text)
    return re.sub(r"`[^`]*`", lambda match: "`" + re.sub(r"[^\n]", "x", match[0][1:-1]) + "`", text)


def sentences(prose):
    """Sentences with the lines on which they begin. A blank line and an item of a list end one."""
    for block in re.finditer(r"(?:(?!\n\s*\n|\n\s*(?:[-*+]|\d+\.)\s).)+", prose, re.DOTALL):
        for sentence in re.finditer(r"(?:[^.!?]|[.!?](?![\s)*_\"]))+(?:[.!?]|$)", block[0], re.DOTALL):
            text = sentence[0].strip()
            if text:
                begin = block.start() + sentence.start() + len(sentence[0]) - len(sentence[0].lstrip())
                yield prose.count("\n", 0, begin) + 1, text


def long_sentences(path, prose):
    for line, sentence in sentences(prose):
        count = len(re.findall(r"[\w`][^\s]*", sentence))
        if count > MOST_WORDS:
            yield f"{path}:{line}: a sentence of {count} words, {MOST_WORDS} are allowed: {' '.join(sentence.split()[:8])} ..."


def wide_lines(path, prose):
    """A line that is too wide and can be broken: code and addresses, which cannot, are masked."""
    for number, line in enumerate(prose.split("\n"), 1):
        if len(line) > COLUMNS and len(line.rstrip()) > COLUMNS and " " in line.strip()[: COLUMNS - 20]:
            yield f"{path}:{number}: {len(line)} columns, {COLUMNS} are allowed"


def words_of_code(path, text):
    """The comments and texts of a source; every line keeps its number."""
    if path.endswith((".cc", ".h", ".def", ".inc", ".proto")):
        kept, end = [], 0
        for match in LITERAL.finditer(text):
            is_include = text.endswith("#include ", 0, match.start())
            kept += [blank(text[end : match.start()]), blank(match[0]) if is_include else match[0]]
            end = match.end()
        return "".join(kept)
    if not path.endswith(".py"):
        return text
    lines = [blank(line) for line in text.split("\n")]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            (row, column), pieces = token.start, token.string.split("\n")
            for at, piece in enumerate(pieces, row - 1):
                start = column if at == row - 1 else 0
                lines[at] = lines[at][:start] + piece + lines[at][start + len(piece) :]
    return "\n".join(lines)


def violations(root, word_list=LIST):
    identifiers, phrases = read_list(word_list)
    names, words = Finder(identifiers), Finder(phrases, re.IGNORECASE)
    found = []
    for path in documents(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        found += (
            list(names.find(path, text))
            + list(words.find(path, prose_of(text)))
            + list(negated_nouns(path, prose_of(text)))
            + list(long_sentences(path, prose_of(text)))
            + list(wide_lines(path, prose_of(text)))
        )
    for path in sources(root, CODE):
        if not path.startswith(NOT_OURS):
            with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
                text = file.read()
            comments = words_of_code(path, text)
            found += (
                list(names.find(path, text)) + list(words.find(path, comments)) + list(negated_nouns(path, comments))
            )
    return found


LONG = "\n  ".join([" ".join(["word"] * 12), " ".join(["word"] * 11)])
WIDE = LONG.replace("\n ", "")
# File -> text; each of PLANTED has to be found, none of CLEAN.
PLANTED = {
    "README.md": "# A\n\nThe network has a\nsay in it.\n",
    "ARCHITECTURE.md": f"- {LONG},\n  {LONG}.\n",
    "docs/a.md": "It calls `HasASay`.\n",
    "docs/c.md": f"{' '.join(['word'] * 21)}\n",
    "graph/a.cc": "bool HasASay(int x);\n",
    "graph/b.h": "// What has a\n// say in it.\nint x;\n",
    "graph/c.cc": 'Fail("it has a say");\n',
    "tests/a.py": 'x = """\nA say\n"""\n',
    "graph/e.cc": "// What is no\n// number.\nint x;\n",
}
CLEAN = {
    "docs/b.md": f"# {WIDE} {WIDE}\n\n```\na say {WIDE} {WIDE}\n```\n| a say | {WIDE} {WIDE} |\n\n- {LONG}\n- {LONG}.\n  {LONG}, e.g. x.\n",
    "lab/results/a.md": f"{LONG} {LONG}\n",
    "graph/d.cc": '#include "base/a say.h"\n' + "int a_say, asay, say; // essay, has a sayer\n",
    "tests/b.py": "a = say\n",
    "graph/f.cc": "// If there\n// is no number, or it is no longer one.\nint x;\n",
}


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for path, text in {
            **PLANTED,
            **CLEAN,
            "words.txt": "# a comment\nHasASay -> AffectsKernel\na say -> an effect\n",
        }.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        found = {message.split(":")[0] for message in violations(root, os.path.join(root, "words.txt"))} - {"words.txt"}
        return sorted(set(PLANTED) - found), sorted(found - set(PLANTED))


def main():
    missed, wrong = self_test()
    if missed or wrong:
        print(f"the test itself is broken: planted but not found {missed}, found but clean {wrong}")
        return 1
    found = violations(root_asked_for())
    print("\n".join(found) or "no word is back, no sentence is long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
