import keyword
import warnings

from einops import EinopsError

_ellipsis = "…"


class AnonymousAxis:
    # A number in a pattern; no two are equal.
    def __init__(self, value):
        if value <= 1:
            raise EinopsError("Anonymous axis should have positive length, not {}".format(value))
        self.value = value

    def __repr__(self):
        return "{}-axis".format(self.value)


class ParsedExpression:
    # One side of a pattern. composition: a list of axes for each dimension ([] is a dimension of
    # size 1), or the ellipsis.
    def __init__(self, expression, *, allow_underscore=False, allow_duplicates=False):
        self.identifiers = set()
        self.composition = []
        self.has_ellipsis = "." in expression
        self.has_ellipsis_parenthesized = None
        self.has_non_unitary_anonymous_axes = False
        if self.has_ellipsis:
            if "..." not in expression:
                raise EinopsError("Expression may contain dots only inside ellipsis (...)")
            if expression.count(".") != 3:
                raise EinopsError(
                    "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor "
                )
            expression = expression.replace("...", _ellipsis)
        for char in expression:
            if not (char in "() _" or char == _ellipsis or char.isalnum()):
                raise EinopsError("Unknown character '{}'".format(char))
        group = None
        for word in expression.replace("(", " ( ").replace(")", " ) ").split():
            if word == "(":
                if group is not None:
                    raise EinopsError("Axis composition is one-level (brackets inside brackets not allowed)")
                group = []
            elif word == ")":
                if group is None:
                    raise EinopsError("Brackets are not balanced")
                self.composition.append(group)
                group = None
            else:
                if word in self.identifiers and not allow_duplicates and not (allow_underscore and word == "_"):
                    raise EinopsError('Indexing expression contains duplicate dimension "{}"'.format(word))
                self._add(word, group, allow_underscore)
        if group is not None:
            raise EinopsError('Imbalanced parentheses in expression: "{}"'.format(expression))

    def _add(self, word, group, allow_underscore):
        if word == _ellipsis:
            self.identifiers.add(word)
            self.has_ellipsis_parenthesized = group is not None
            (self.composition if group is None else group).append(word)
            return
        if word == "1":
            if group is None:
                self.composition.append([])
            return
        axis = word
        if word.isdecimal():
            axis = AnonymousAxis(int(word))
            self.has_non_unitary_anonymous_axes = True
        else:
            valid, reason = self.check_axis_name_return_reason(word, allow_underscore)
            if not valid:
                raise EinopsError("Invalid axis identifier: {}\n{}".format(word, reason))
        self.identifiers.add(axis)
        if group is None:
            self.composition.append([axis])
        else:
            group.append(axis)

    def has_composed_axes(self):
        return any(isinstance(axes, list) and len(axes) > 1 for axes in self.composition)

    def flat_axes_order(self):
        return [axis for axes in self.composition for axis in axes]

    @staticmethod
    def check_axis_name_return_reason(name, allow_underscore=False):
        if not name.isidentifier():
            return False, "not a valid python identifier"
        if name[0] == "_" or name[-1] == "_":
            if name == "_" and allow_underscore:
                return True, ""
            return False, "axis name should should not start or end with underscore"
        return True, ""

    @staticmethod
    def check_axis_name(name):
        return ParsedExpression.check_axis_name_return_reason(name)[0]
