# The functions of einops as layers.
import torch
from einops import EinopsError
from einops._backends import TorchBackend
from einops.einops import _apply_recipe, _prepare_recipes_for_all_dims, _product
from einops.parsing import ParsedExpression, _ellipsis


def _arguments(axes_lengths):
    return "".join(", {}={}".format(axis, length) for axis, length in axes_lengths.items())


class _PatternLayer(torch.nn.Module):
    def _prepare(self, operation):
        try:
            self._multirecipe = _prepare_recipes_for_all_dims(self.pattern, operation, tuple(self.axes_lengths))
        except EinopsError as e:
            raise EinopsError(" Error while preparing {!r}\n {}".format(self, e))

    def _run(self, input, operation):
        recipe = self._multirecipe.get(input.ndim)
        if recipe is None:
            raise EinopsError(
                " Error while applying {!r}\n to a tensor of shape {}: the pattern is for {} dimensions".format(
                    self, input.shape, " or ".join(map(str, self._multirecipe))
                )
            )
        return _apply_recipe(TorchBackend, recipe, input, operation, self.axes_lengths)


class Rearrange(_PatternLayer):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths
        self._prepare("rearrange")

    def forward(self, input):
        return self._run(input, "rearrange")

    def __repr__(self):
        return "{}({!r}{})".format(self.__class__.__name__, self.pattern, _arguments(self.axes_lengths))


class Reduce(_PatternLayer):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths
        self._prepare(reduction)

    def forward(self, input):
        return self._run(input, self.reduction)

    def __repr__(self):
        return "{}({!r}, {!r}{})".format(
            self.__class__.__name__, self.pattern, self.reduction, _arguments(self.axes_lengths)
        )


def _report(axes, message):
    if axes:
        raise EinopsError(message.format(axes))


def _letters(identifiers):
    # One letter for each axis: its own first one where that is free.
    taken = {}
    for identifier in sorted(identifiers, key=str.lower, reverse=True):
        letter = next((c for c in identifier.lower() if "a" <= c <= "z"), "z")
        while letter in taken:
            letter = "a" if letter == "z" else chr(ord(letter) + 1)
        taken[letter] = identifier
    letters = {identifier: letter for letter, identifier in taken.items()}
    letters[_ellipsis] = "..."
    return letters


class EinMix(torch.nn.Module):
    # An einsum with a weight of its own; composed axes are split before and joined after it.
    def __init__(self, pattern, weight_shape, bias_shape=None, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.weight_shape = weight_shape
        self.bias_shape = bias_shape
        self.axes_lengths = axes_lengths
        left_text, right_text = pattern.split("->")
        left, right, weight = ParsedExpression(left_text), ParsedExpression(right_text), ParsedExpression(weight_shape)
        self._check(left, right, weight)
        self.pre_rearrange = self.post_rearrange = None
        if any(len(axes) != 1 for axes in left.composition):
            names = left.flat_axes_order()
            self.pre_rearrange = Rearrange(
                "{}-> {}".format(left_text, self._flat(names)),
                **{name: length for name, length in axes_lengths.items() if name in names},
            )
        if any(len(axes) != 1 for axes in right.composition) or right.has_ellipsis_parenthesized:
            self.post_rearrange = Rearrange("{} ->{}".format(self._flat(right.flat_axes_order()), right_text))
        axes = weight.flat_axes_order()
        fan_in = _product(axes_lengths[axis] for axis in axes if axis not in right.identifiers)
        bound = (3 / fan_in) ** 0.5
        self.weight = torch.nn.Parameter(torch.zeros([axes_lengths[axis] for axis in axes]).uniform_(-bound, bound))
        self.bias = None if bias_shape is None else torch.nn.Parameter(torch.zeros(self._bias_sizes(right)).uniform_())
        letters = _letters((left.identifiers | right.identifiers | weight.identifiers) - {_ellipsis})
        self.einsum_pattern = "{},{}->{}".format(
            *("".join(letters[a] for a in side.flat_axes_order()) for side in (left, weight, right))
        )

    @staticmethod
    def _flat(names):
        return " ".join("..." if name == _ellipsis else name for name in names)

    def _check(self, left, right, weight):
        _report(
            right.identifiers - left.identifiers - weight.identifiers,
            "Unrecognized identifiers on the right side of EinMix {}",
        )
        if weight.has_ellipsis:
            raise EinopsError("Ellipsis is not supported in weight, as its shape should be fully specified")
        if left.has_ellipsis != right.has_ellipsis:
            raise EinopsError("Ellipsis in EinMix should be on both sides, {}".format(self.pattern))
        if left.has_ellipsis_parenthesized:
            raise EinopsError("Ellipsis on left side can't be in parenthesis, got {}".format(self.pattern))
        if any(side.has_non_unitary_anonymous_axes for side in (left, right, weight)):
            raise EinopsError("Anonymous axes (numbers) are not allowed in EinMix")
        if "(" in self.weight_shape or ")" in self.weight_shape:
            raise EinopsError("Parenthesis is not allowed in weight shape: {}".format(self.weight_shape))
        for axis in weight.identifiers:
            if axis not in self.axes_lengths:
                raise EinopsError("Dimension {} of weight should be specified".format(axis))
        _report(set(self.axes_lengths) - left.identifiers - weight.identifiers, "Axes {} are not used in pattern")
        _report(weight.identifiers - left.identifiers - right.identifiers, "Weight axes {} are redundant")

    def _bias_sizes(self, right):
        if not isinstance(self.bias_shape, str):
            raise EinopsError("bias shape should be string specifying which axes bias depends on")
        bias = ParsedExpression(self.bias_shape)
        _report(bias.identifiers - right.identifiers, "Bias axes {} not present in output")
        _report(bias.identifiers - set(self.axes_lengths), "Sizes not provided for bias axes {}")
        sizes, sized = [], False
        for axis in right.flat_axes_order():
            if axis == _ellipsis:
                if sized:
                    raise EinopsError("all bias dimensions should go after ellipsis in the output")
                continue
            sizes.append(self.axes_lengths[axis] if axis in bias.identifiers else 1)
            sized = sized or axis in bias.identifiers
        return sizes

    def forward(self, input):
        if self.pre_rearrange is not None:
            input = self.pre_rearrange(input)
        result = torch.einsum(self.einsum_pattern, input, self.weight)
        if self.bias is not None:
            result += self.bias
        if self.post_rearrange is not None:
            result = self.post_rearrange(result)
        return result

    def __repr__(self):
        bias = "" if self.bias_shape is None else ", {!r}".format(self.bias_shape)
        return "{}({!r}, {!r}{}{})".format(
            self.__class__.__name__, self.pattern, self.weight_shape, bias, _arguments(self.axes_lengths)
        )
