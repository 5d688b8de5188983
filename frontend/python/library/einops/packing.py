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
    if "*" not in axes:
        raise EinopsError('No *-axis in {}(..., "{}")'.format(opname, pattern))
    for axis in axes:
        if axis != "*" and not ParsedExpression.check_axis_name(axis):
            raise EinopsError('Invalid axis name {} in {}(..., "{}")'.format(axis, opname, pattern))
    before = axes.index("*")
    return before, len(axes) - before - 1


def pack(tensors, pattern):
    before, after = analyze_pattern(pattern, "pack")
    backend = get_backend(tensors[0])
    flat, packed_shapes = [], []
    for i, tensor in enumerate(tensors):
        shape = backend.shape(tensor)
        if len(shape) < before + after:
            raise EinopsError(
                "packed tensor #{} (enumeration starts with 0) has shape {}, while pattern {} assumes at least {} axes".format(
                    i, shape, pattern, before + after
                )
            )
        end = len(shape) - after
        packed_shapes.append(shape[before:end])
        flat.append(backend.reshape(tensor, (*shape[:before], -1, *shape[end:])))
    return backend.concat(flat, axis=before), packed_shapes


def unpack(tensor, packed_shapes, pattern):
    before, after = analyze_pattern(pattern, "unpack")
    backend = get_backend(tensor)
    shape = backend.shape(tensor)
    if len(shape) != before + 1 + after:
        raise EinopsError("unpack(..., {}) received input of wrong dim with shape {}".format(pattern, shape))
    sizes = []
    for packed in packed_shapes:
        size = 1
        for length in packed:
            size *= length
        sizes.append(-1 if -1 in packed else size)
    if sizes.count(-1) > 1:
        raise EinopsError(
            "unpack(..., {}) received more than one -1 in {} and can't infer dimensions".format(pattern, packed_shapes)
        )
    # Cuts from the front up to the unknown piece, and from the back down to it.
    unknown = sizes.index(-1) if -1 in sizes else len(sizes) - 1
    cuts = [0] * len(sizes) + [shape[before]]
    for i in range(unknown):
        cuts[i + 1] = cuts[i] + sizes[i]
    for i in range(len(sizes) - 1, unknown, -1):
        cuts[i] = cuts[i + 1] - sizes[i]
    everything = (slice(None, None),) * before
    try:
        return [
            backend.reshape(
                tensor[(*everything, slice(cuts[i], cuts[i + 1]))], (*shape[:before], *packed, *shape[before + 1 :])
            )
            for i, packed in enumerate(packed_shapes)
        ]
    except Exception as e:
        raise EinopsError(
            'Error during unpack(..., "{}"): could not split axis of size {} into requested {}'.format(
                pattern, cuts[-1], packed_shapes
            )
        ) from e
