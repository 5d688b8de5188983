# einops: tensors rearranged by named axes. Our own writing of what the library (einops 0.8, MIT, A. Rogozhnikov) does with torch tensors: a pattern makes
# at most one reshape, one permute, reductions, unsqueeze + expand and one reshape, each only where it changes something, in this order.
# == einops
__version__ = '0.8.1'
__all__ = ['rearrange', 'reduce', 'repeat', 'einsum', 'pack', 'unpack', 'parse_shape', 'asnumpy', 'EinopsError']


class EinopsError(RuntimeError):
    pass


from einops.einops import asnumpy, einsum, parse_shape, rearrange, reduce, repeat
from einops.packing import pack, unpack
# == einops.parsing
import keyword
import warnings

from einops import EinopsError

_ellipsis = '…'


class AnonymousAxis:
    # A number in a pattern; no two are equal.
    def __init__(self, value):
        if value <= 1:
            raise EinopsError('Anonymous axis should have positive length, not {}'.format(value))
        self.value = value

    def __repr__(self):
        return '{}-axis'.format(self.value)


class ParsedExpression:
    # One side of a pattern. composition: a list of axes for each dimension ([] is a dimension of size 1), or the ellipsis.
    def __init__(self, expression, *, allow_underscore=False, allow_duplicates=False):
        self.identifiers = set()
        self.composition = []
        self.has_ellipsis = '.' in expression
        self.has_ellipsis_parenthesized = None
        self.has_non_unitary_anonymous_axes = False
        if self.has_ellipsis:
            if '...' not in expression:
                raise EinopsError('Expression may contain dots only inside ellipsis (...)')
            if expression.count('.') != 3:
                raise EinopsError('Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor ')
            expression = expression.replace('...', _ellipsis)
        for char in expression:
            if not (char in '() _' or char == _ellipsis or char.isalnum()):
                raise EinopsError("Unknown character '{}'".format(char))
        group = None
        for word in expression.replace('(', ' ( ').replace(')', ' ) ').split():
            if word == '(':
                if group is not None:
                    raise EinopsError('Axis composition is one-level (brackets inside brackets not allowed)')
                group = []
            elif word == ')':
                if group is None:
                    raise EinopsError('Brackets are not balanced')
                self.composition.append(group)
                group = None
            else:
                if word in self.identifiers and not allow_duplicates and not (allow_underscore and word == '_'):
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
        if word == '1':
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
                raise EinopsError('Invalid axis identifier: {}\n{}'.format(word, reason))
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
            return False, 'not a valid python identifier'
        if name[0] == '_' or name[-1] == '_':
            if name == '_' and allow_underscore:
                return True, ''
            return False, 'axis name should should not start or end with underscore'
        return True, ''

    @staticmethod
    def check_axis_name(name):
        return ParsedExpression.check_axis_name_return_reason(name)[0]
# == einops._backends
import torch


class TorchBackend:
    framework_name = 'torch'

    @staticmethod
    def is_appropriate_type(tensor):
        return isinstance(tensor, torch.Tensor)

    @staticmethod
    def shape(x):
        return x.shape

    @staticmethod
    def reshape(x, shape):
        return x.reshape(shape)

    @staticmethod
    def transpose(x, axes):
        return x.permute(axes)

    @staticmethod
    def reduce(x, operation, axes):
        if operation in ('min', 'max'):
            return (x.amin if operation == 'min' else x.amax)(dim=axes)
        if operation in ('sum', 'mean'):
            return (x.sum if operation == 'sum' else x.mean)(dim=axes)
        if operation in ('any', 'all', 'prod'):
            for axis in sorted(axes, reverse=True):  # torch takes one axis at a time here
                x = getattr(x, operation)(dim=axis)
            return x
        raise NotImplementedError('Unknown reduction ', operation)

    @staticmethod
    def add_axes(x, n_axes, pos2len):
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x = torch.unsqueeze(x, position)
            sizes[position] = length
        return x.expand(sizes)

    @staticmethod
    def stack_on_zeroth_dimension(tensors):
        return torch.stack(tensors)

    @staticmethod
    def concat(tensors, axis):
        return torch.cat(tensors, dim=axis)

    @staticmethod
    def is_float_type(x):
        return x.dtype in [torch.float16, torch.float32, torch.float64, torch.bfloat16]

    @staticmethod
    def einsum(pattern, *x):
        return torch.einsum(pattern, *x)

    @staticmethod
    def to_numpy(x):
        return x.detach().cpu().numpy()

    @staticmethod
    def from_numpy(x):
        return torch.from_numpy(x)


def get_backend(tensor):
    if isinstance(tensor, torch.Tensor):
        return TorchBackend
    raise RuntimeError('Tensor type unknown to einops {}'.format(type(tensor)))
# == einops.einops
import functools
import string

from einops import EinopsError
from einops._backends import get_backend
from einops.parsing import AnonymousAxis, ParsedExpression, _ellipsis

_reductions = ('min', 'max', 'sum', 'mean', 'prod', 'any', 'all')


def _product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def _check_sides(left, right, operation, axes_names):
    # New axes appear only in repeat, axes disappear only in a reduction.
    if operation == 'rearrange':
        if left.has_non_unitary_anonymous_axes or right.has_non_unitary_anonymous_axes:
            raise EinopsError('Non-unitary anonymous axes are not supported in rearrange (exception is length 1)')
        difference = left.identifiers ^ right.identifiers
        if difference:
            raise EinopsError('Identifiers only on one side of expression (should be on both): {}'.format(difference))
    elif operation == 'repeat':
        difference = left.identifiers - right.identifiers
        if difference:
            raise EinopsError('Unexpected identifiers on the left side of repeat: {}'.format(difference))
        named = {axis for axis in right.identifiers if not isinstance(axis, AnonymousAxis)}
        unsized = named - left.identifiers - set(axes_names)
        if unsized:
            raise EinopsError('Specify sizes for new axes in repeat: {}'.format(unsized))
    elif operation in _reductions or callable(operation):
        difference = right.identifiers - left.identifiers
        if difference:
            raise EinopsError('Unexpected identifiers on the right side of reduce {}: {}'.format(operation, difference))
    else:
        raise EinopsError('Unknown reduction {}. Expect one of {}.'.format(operation, _reductions))


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
        left_text, right_text = pattern.split('->')
        left, right = ParsedExpression(left_text), ParsedExpression(right_text)
        if right.has_ellipsis and not left.has_ellipsis:
            raise EinopsError('Ellipsis found in right side, but not left side of a pattern {}'.format(pattern))
        if left.has_ellipsis_parenthesized:
            raise EinopsError('Ellipsis inside parenthesis in the left side is not allowed: {}'.format(pattern))
        _check_sides(left, right, operation, axes_names)
        rest = len(left.composition) - (1 if left.has_ellipsis else 0)
        if left.has_ellipsis and ndim < rest:
            raise EinopsError('Wrong shape: expected >={} dims. Received {}-dim tensor.'.format(rest, ndim))
        if not left.has_ellipsis and ndim != rest:
            raise EinopsError('Wrong shape: expected {} dims. Received {}-dim tensor.'.format(rest, ndim))
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
                raise EinopsError('Invalid name for an axis', name)
            if name not in before and name not in there:
                raise EinopsError('Axis {} is not used in transform'.format(name))
        self.unknown = []  # for each dimension of the input, the one axis whose length follows from it
        for axes in self.inputs:
            unknown = [axis for axis in axes if axis not in known]
            if len(unknown) > 1:
                raise EinopsError('Could not infer sizes for {}'.format(set(unknown)))
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
                    raise EinopsError('Shape mismatch, {} != {}'.format(size, product))
                continue
            if integral and size % product != 0:
                raise EinopsError("Shape mismatch, can't divide axis of length {} in chunks of {}".format(size, product))
            lengths[unknown] = size // product
        return lengths


_prepare_transformation_recipe = functools.lru_cache(256)(TransformRecipe)


def _prepare_recipes_for_all_dims(pattern, operation, axes_names):
    left = ParsedExpression(pattern.split('->')[0])
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
            if reduction_type == 'mean' and not backend.is_float_type(tensor):
                raise NotImplementedError('reduce_mean is not available for non-floating tensors')
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
        raise EinopsError(' Error while processing {}-reduction pattern "{}".\n Input tensor shape: {}. Additional info: {}.\n {}'.format(
            reduction, pattern, shape, axes_lengths, e))


def rearrange(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, reduction='rearrange', **axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, reduction='repeat', **axes_lengths)


def parse_shape(x, pattern):
    expression = ParsedExpression(pattern, allow_underscore=True)
    shape = get_backend(x).shape(x)
    if expression.has_composed_axes():
        raise RuntimeError("Can't parse shape with composite axes: {} {}".format(pattern, shape))
    missing = len(shape) - len(expression.composition)
    if missing < -1 or (missing != 0 and not expression.has_ellipsis):
        raise RuntimeError("Can't parse shape with {}number of dimensions: {} {}".format('this ' if expression.has_ellipsis else 'different ', pattern, shape))
    composition = []
    for axes in expression.composition:
        composition.extend([['_']] * (missing + 1) if axes == _ellipsis else [axes])
    result = {}
    for axes, length in zip(composition, shape):
        if not axes:
            if length != 1:
                raise RuntimeError('Length of axis is not 1: {} {}'.format(pattern, shape))
        elif isinstance(axes[0], AnonymousAxis):
            if axes[0].value != length:
                raise RuntimeError('Length of anonymous axis does not match: {} {}'.format(pattern, shape))
        elif axes[0] != '_':
            result[axes[0]] = length
    return result


def asnumpy(tensor):
    return get_backend(tensor).to_numpy(tensor)


@functools.lru_cache(256)
def _compactify_pattern_for_einsum(pattern):
    if '->' not in pattern:
        raise ValueError("Einsum pattern must contain '->'.")
    lefts, right = pattern.split('->')
    letters = {}

    def compact(expression, is_output):
        text = ''
        for axes in expression.composition:
            if axes == _ellipsis:
                text += '...'
                continue
            if len(axes) == 0:
                raise NotImplementedError('Singleton () axes are not yet supported in einsum.')
            if len(axes) > 1:
                raise NotImplementedError('Shape rearrangement is not yet supported in einsum.')
            name = axes[0]
            if isinstance(name, AnonymousAxis):
                raise NotImplementedError('Anonymous axes are not yet supported in einsum.')
            if name not in letters:
                if is_output:
                    raise EinopsError('Unknown axis {} on right side of einsum {}.'.format(name, pattern))
                if len(letters) >= len(string.ascii_letters):
                    raise RuntimeError('Too many axes in einsum.')
                letters[name] = string.ascii_letters[len(letters)]
            text += letters[name]
        return text

    inputs = [compact(ParsedExpression(left, allow_underscore=True, allow_duplicates=True), False) for left in lefts.split(',')]
    return ','.join(inputs) + '->' + compact(ParsedExpression(right, allow_underscore=True), True)


def einsum(*tensors_and_pattern):
    if len(tensors_and_pattern) <= 1:
        raise ValueError('`einops.einsum` takes at minimum two arguments: the tensors (at least one), followed by the pattern.')
    *tensors, pattern = tensors_and_pattern
    if not isinstance(pattern, str):
        raise ValueError('The last argument passed to `einops.einsum` must be a string, representing the einsum pattern.')
    return get_backend(tensors[0]).einsum(_compactify_pattern_for_einsum(pattern), *tensors)
# == einops.packing
import functools

from einops import EinopsError
from einops._backends import get_backend
from einops.parsing import ParsedExpression


@functools.lru_cache(128)
def analyze_pattern(pattern, opname):
    # (axes before the packed one, axes after it)
    axes = pattern.split()
    if len(axes) != len(set(axes)):
        raise EinopsError('Duplicates in axes names in {}(..., "{}")'.format(opname, pattern))
    if '*' not in axes:
        raise EinopsError('No *-axis in {}(..., "{}")'.format(opname, pattern))
    for axis in axes:
        if axis != '*' and not ParsedExpression.check_axis_name(axis):
            raise EinopsError('Invalid axis name {} in {}(..., "{}")'.format(axis, opname, pattern))
    before = axes.index('*')
    return before, len(axes) - before - 1


def pack(tensors, pattern):
    before, after = analyze_pattern(pattern, 'pack')
    backend = get_backend(tensors[0])
    flat, packed_shapes = [], []
    for i, tensor in enumerate(tensors):
        shape = backend.shape(tensor)
        if len(shape) < before + after:
            raise EinopsError('packed tensor #{} (enumeration starts with 0) has shape {}, while pattern {} assumes at least {} axes'.format(
                i, shape, pattern, before + after))
        end = len(shape) - after
        packed_shapes.append(shape[before:end])
        flat.append(backend.reshape(tensor, (*shape[:before], -1, *shape[end:])))
    return backend.concat(flat, axis=before), packed_shapes


def unpack(tensor, packed_shapes, pattern):
    before, after = analyze_pattern(pattern, 'unpack')
    backend = get_backend(tensor)
    shape = backend.shape(tensor)
    if len(shape) != before + 1 + after:
        raise EinopsError('unpack(..., {}) received input of wrong dim with shape {}'.format(pattern, shape))
    sizes = []
    for packed in packed_shapes:
        size = 1
        for length in packed:
            size *= length
        sizes.append(-1 if -1 in packed else size)
    if sizes.count(-1) > 1:
        raise EinopsError("unpack(..., {}) received more than one -1 in {} and can't infer dimensions".format(pattern, packed_shapes))
    # Cuts from the front up to the unknown piece, and from the back down to it.
    unknown = sizes.index(-1) if -1 in sizes else len(sizes) - 1
    cuts = [0] * len(sizes) + [shape[before]]
    for i in range(unknown):
        cuts[i + 1] = cuts[i] + sizes[i]
    for i in range(len(sizes) - 1, unknown, -1):
        cuts[i] = cuts[i + 1] - sizes[i]
    everything = (slice(None, None),) * before
    try:
        return [backend.reshape(tensor[(*everything, slice(cuts[i], cuts[i + 1]))], (*shape[:before], *packed, *shape[before + 1:]))
                for i, packed in enumerate(packed_shapes)]
    except Exception as e:
        raise EinopsError('Error during unpack(..., "{}"): could not split axis of size {} into requested {}'.format(pattern, cuts[-1], packed_shapes)) from e
# == einops._torch_specific
def allow_ops_in_compiled_graph():
    pass
