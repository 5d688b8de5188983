from collections import OrderedDict


class TreeSpec:
    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = sum(s.num_leaves for s in children_specs) if type is not None else 1

    def __eq__(self, other):
        return (self.type, self.context, self.children_specs) == (other.type, other.context, other.children_specs)


class LeafSpec(TreeSpec):
    def __init__(self):
        super().__init__(None, None, [])


_registered = {}  # class: (flatten, unflatten)


def _register_pytree_node(cls, flatten_fn, unflatten_fn, **kwargs):
    _registered[cls] = (flatten_fn, unflatten_fn)


register_pytree_node = _register_pytree_node


def _children(tree):
    cls = type(tree)
    if cls in _registered:
        return _registered[cls][0](tree)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return list(tree), cls
    if cls in (list, tuple):
        return list(tree), None
    if cls in (dict, OrderedDict):
        return _dict_flatten(tree)
    return None


def tree_flatten(tree):
    children = _children(tree)
    if children is None:
        return [tree], LeafSpec()
    leaves, specs = [], []
    for child in children[0]:
        below, spec = tree_flatten(child)
        leaves.extend(below)
        specs.append(spec)
    return leaves, TreeSpec(type(tree), children[1], specs)


def tree_unflatten(leaves, spec):
    if spec.type is None:
        return leaves[0]
    children, at = [], 0
    for child in spec.children_specs:
        children.append(tree_unflatten(leaves[at : at + child.num_leaves], child))
        at += child.num_leaves
    if spec.type in _registered:
        return _registered[spec.type][1](children, spec.context)
    if spec.type in (dict, OrderedDict):
        return spec.type(zip(spec.context, children))
    return spec.type(*children) if hasattr(spec.type, "_fields") else spec.type(children)


def tree_leaves(tree):
    return tree_flatten(tree)[0]


def tree_map(fn, tree, *rest):
    leaves, spec = tree_flatten(tree)
    return tree_unflatten([fn(*v) for v in zip(leaves, *[tree_flatten(r)[0] for r in rest])], spec)


def tree_map_only(ty, fn, tree=None):
    if tree is None:
        return lambda t: tree_map_only(ty, fn, t)
    return tree_map(lambda v: fn(v) if isinstance(v, ty) else v, tree)


def tree_all(pred, tree):
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred, tree):
    return any(map(pred, tree_leaves(tree)))


class _Key:
    def __init__(self, key):
        self.key = self.idx = self.name = key

    def __eq__(self, other):
        return type(self) is type(other) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


class SequenceKey(_Key):
    pass


class MappingKey(_Key):
    pass


class GetAttrKey(_Key):
    pass


def _dict_flatten(d):
    return list(d.values()), list(d.keys())


def _dict_unflatten(values, context):
    return dict(zip(context, values))


def _dict_flatten_with_keys(d):
    values, context = _dict_flatten(d)
    return [(MappingKey(k), v) for k, v in zip(context, values)], context


SUPPORTED_NODES = _registered
Context = object
