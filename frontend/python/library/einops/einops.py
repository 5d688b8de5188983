import functools
import string

from einops import EinopsError
from einops._backends import get_backend
from einops.parsing import AnonymousAxis, ParsedExpression, _ellipsis

_reductions = ("min", "max", "sum", "mean", "prod", "any", "all")


def _product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def _check_sides(left, right, operation, axes_names):
    # New axes appear only in repeat, axes disappear only in a reduction.
    if operation == "rearrange":
        if left.has_non_unitary_anonymous_axes or right.has_non_unitary_anonymous_axes:
            raise EinopsError("Non-unitary anonymous axes are not supported in rearrange (exception is length 1)")
        difference = left.identifiers ^ right.identifiers
        if difference:
            raise EinopsError("Identifiers only on one side of expression (should be on both): {}".format(difference))
    elif operation == "repeat":
        difference = left.identifiers - right.identifiers
        if difference:
            raise EinopsError("Unexpected identifiers on the left side of repeat: {}".format(difference))
        named = {axis for axis in right.identifiers if not isinstance(axis, AnonymousAxis)}
        unsized = named - left.identifiers - set(axes_names)
        if unsized:
            raise EinopsError("Specify sizes for new axes in repeat: {}".format(unsized))
    elif operation in _reductions or callable(operation):
        difference = right.identifiers - left.identifiers
        if difference:
            raise EinopsError("Unexpected identifiers on the right side of reduce {}: {}".format(operation, difference))
    else:
        raise EinopsError("Unknown reduction {}. Expect one of {}.".format(operation, _reductions))


def _spread(composition, ellipsis_axes):
    # The ellipsis replaced by axes of its own, one for each dimension that it stands for.
    dims = []
    for axes in composition:
        if axes == _ellipsis:
            dims.extend([axis] for axis in ellipsis_axes)
        else:
            dims.append([a for axis in axes for a in (ellipsis_axes if axis == _ellipsis else (axis,))])
    return dims


class TransformRecipe:
    # A pattern understood for tensors of `ndim` dimensions.
    def __init__(self, pattern, operation, axes_names, ndim):
        left_text, right_text = pattern.split("->")
        left, right = ParsedExpression(left_text), ParsedExpression(right_text)
        if right.has_ellipsis and not left.has_ellipsis:
            raise EinopsError("Ellipsis found in right side, but not left side of a pattern {}".format(pattern))
        if left.has_ellipsis_parenthesized:
            raise EinopsError("Ellipsis inside parenthesis in the left side is not allowed: {}".format(pattern))
        _check_sides(left, right, operation, axes_names)
        rest = len(left.composition) - (1 if left.has_ellipsis else 0)
        if left.has_ellipsis and ndim < rest:
            raise EinopsError("Wrong shape: expected >={} dims. Received {}-dim tensor.".format(rest, ndim))
        if not left.has_ellipsis and ndim != rest:
            raise EinopsError("Wrong shape: expected {} dims. Received {}-dim tensor.".format(rest, ndim))
        ellipsis_axes = [_ellipsis + str(i) for i in range(ndim - rest)]
        self.inputs = _spread(left.composition, ellipsis_axes)
        self.outputs = _spread(right.composition, ellipsis_axes)
        before = [axis for axes in self.inputs for axis in axes]
        after = [axis for axes in self.outputs for axis in axes]
        self.axes = before  # as they lie after the first reshape
        kept, there = [axis for axis in after if axis in before], set(after)
        order = [before.index(axis) for axis in kept + [axis for axis in before if axis not in there]]
        self.order = order if order != list(range(len(order))) else None
        self.reduced = list(range(len(kept), len(before)))
        self.added = {i: axis for i, axis in enumerate(after) if axis not in before}
        self.fixed = {axis: axis.value for axis in before + after if isinstance(axis, AnonymousAxis)}
        known = set(self.fixed) | set(axes_names)
        for name in axes_names:
            if not ParsedExpression.check_axis_name(name):
                raise EinopsError("Invalid name for an axis", name)
            if name not in before and name not in there:
                raise EinopsError("Axis {} is not used in transform".format(name))
        self.unknown = []  # for each dimension of the input, the one axis whose length follows from it
        for axes in self.inputs:
            unknown = [axis for axis in axes if axis not in known]
            if len(unknown) > 1:
                raise EinopsError("Could not infer sizes for {}".format(set(unknown)))
            self.unknown.append(unknown[0] if unknown else None)
        self.splits = any(len(axes) != 1 for axes in self.inputs)
        self.joins = any(len(axes) != 1 for axes in self.outputs)

    def lengths(self, shape, axes_lengths):
        lengths = dict(self.fixed)
        lengths.update(axes_lengths)
        for size, axes, unknown in zip(shape, self.inputs, self.unknown):
            if unknown is not None and len(axes) == 1:
                lengths[unknown] = size
                continue
            product = _product(lengths[axis] for axis in axes if axis is not unknown)
            integral = isinstance(size, int) and isinstance(product, int)
            if unknown is None:
                if integral and size != product:
                    raise EinopsError("Shape mismatch, {} != {}".format(size, product))
                continue
            if integral and size % product != 0:
                raise EinopsError(
                    "Shape mismatch, can't divide axis of length {} in chunks of {}".format(size, product)
                )
            lengths[unknown] = size // product
        return lengths


_prepare_transformation_recipe = functools.lru_cache(256)(TransformRecipe)


def _prepare_recipes_for_all_dims(pattern, operation, axes_names):
    left = ParsedExpression(pattern.split("->")[0])
    dims = [len(left.composition)]
    if left.has_ellipsis:
        dims = [len(left.composition) - 1 + more for more in range(8)]
    return {ndim: _prepare_transformation_recipe(pattern, operation, axes_names, ndim) for ndim in dims}


def _apply_recipe(backend, recipe, tensor, reduction_type, axes_lengths):
    lengths = recipe.lengths(backend.shape(tensor), axes_lengths)
    if recipe.splits:
        tensor = backend.reshape(tensor, [lengths[axis] for axis in recipe.axes])
    if recipe.order is not None:
        tensor = backend.transpose(tensor, recipe.order)
    if recipe.reduced:
        if callable(reduction_type):
            tensor = reduction_type(tensor, tuple(recipe.reduced))
        else:
            if reduction_type == "mean" and not backend.is_float_type(tensor):
                raise NotImplementedError("reduce_mean is not available for non-floating tensors")
            tensor = backend.reduce(tensor, reduction_type, tuple(recipe.reduced))
    if recipe.added:
        added = {position: lengths[axis] for position, axis in recipe.added.items()}
        tensor = backend.add_axes(tensor, n_axes=len(recipe.axes) + len(added), pos2len=added)
    if recipe.joins:
        tensor = backend.reshape(tensor, [_product(lengths[axis] for axis in axes) for axes in recipe.outputs])
    return tensor


def reduce(tensor, pattern, reduction, **axes_lengths):
    shape = None
    try:
        if isinstance(tensor, list):
            if len(tensor) == 0:
                raise TypeError("Rearrange/Reduce/Repeat can't be applied to an empty list")
            backend = get_backend(tensor[0])
            tensor = backend.stack_on_zeroth_dimension(tensor)
        else:
            backend = get_backend(tensor)
        shape = backend.shape(tensor)
        recipe = _prepare_transformation_recipe(pattern, reduction, tuple(axes_lengths), len(shape))
        return _apply_recipe(backend, recipe, tensor, reduction, axes_lengths)
    except EinopsError as e:
        raise EinopsError(
            ' Error while processing {}-reduction pattern "{}".\n Input tensor shape: {}. Additional info: {}.\n {}'.format(
                reduction, pattern, shape, axes_lengths, e
            )
        )


def rearrange(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, reduction="rearrange", **axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, reduction="repeat", **axes_lengths)


def parse_shape(x, pattern):
    expression = ParsedExpression(pattern, allow_underscore=True)
    shape = get_backend(x).shape(x)
    if expression.has_composed_axes():
        raise RuntimeError("Can't parse shape with composite axes: {} {}".format(pattern, shape))
    missing = len(shape) - len(expression.composition)
    if missing < -1 or (missing != 0 and not expression.has_ellipsis):
        raise RuntimeError(
            "Can't parse shape with {}number of dimensions: {} {}".format(
                "this " if expression.has_ellipsis else "different ", pattern, shape
            )
        )
    composition = []
    for axes in expression.composition:
        composition.extend([["_"]] * (missing + 1) if axes == _ellipsis else [axes])
    result = {}
    for axes, length in zip(composition, shape):
        if not axes:
            if length != 1:
                raise RuntimeError("Length of axis is not 1: {} {}".format(pattern, shape))
        elif isinstance(axes[0], AnonymousAxis):
            if axes[0].value != length:
                raise RuntimeError("Length of anonymous axis does not match: {} {}".format(pattern, shape))
        elif axes[0] != "_":
            result[axes[0]] = length
    return result


def asnumpy(tensor):
    return get_backend(tensor).to_numpy(tensor)


@functools.lru_cache(256)
def _compactify_pattern_for_einsum(pattern):
    if "->" not in pattern:
        raise ValueError("Einsum pattern must contain '->'.")
    lefts, right = pattern.split("->")
    letters = {}

    def compact(expression, is_output):
        text = ""
        for axes in expression.composition:
            if axes == _ellipsis:
                text += "..."
                continue
            if len(axes) == 0:
                raise NotImplementedError("Singleton () axes are not yet supported in einsum.")
            if len(axes) > 1:
                raise NotImplementedError("Shape rearrangement is not yet supported in einsum.")
            name = axes[0]
            if isinstance(name, AnonymousAxis):
                raise NotImplementedError("Anonymous axes are not yet supported in einsum.")
            if name not in letters:
                if is_output:
                    raise EinopsError("Unknown axis {} on right side of einsum {}.".format(name, pattern))
                if len(letters) >= len(string.ascii_letters):
                    raise RuntimeError("Too many axes in einsum.")
                letters[name] = string.ascii_letters[len(letters)]
            text += letters[name]
        return text

    inputs = [
        compact(ParsedExpression(left, allow_underscore=True, allow_duplicates=True), False)
        for left in lefts.split(",")
    ]
    return ",".join(inputs) + "->" + compact(ParsedExpression(right, allow_underscore=True), True)


def einsum(*tensors_and_pattern):
    if len(tensors_and_pattern) <= 1:
        raise ValueError(
            "`einops.einsum` takes at minimum two arguments: the tensors (at least one), followed by the pattern."
        )
    *tensors, pattern = tensors_and_pattern
    if not isinstance(pattern, str):
        raise ValueError(
            "The last argument passed to `einops.einsum` must be a string, representing the einsum pattern."
        )
    return get_backend(tensors[0]).einsum(_compactify_pattern_for_einsum(pattern), *tensors)
