# What torch.fx gets to know of the containers of a program. It is kept and not asked for: a trace
# finds the tensors of any object.
import torch
from torch.utils import _pytree as _trees
from torch.utils._pytree import TreeSpec

SUPPORTED_NODES = {}
_exact = {}


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    SUPPORTED_NODES[cls] = flatten_fn_spec
    _exact[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(pytree, spec):
    if isinstance(spec, _trees.LeafSpec):
        return [pytree]
    if spec.type not in SUPPORTED_NODES:
        raise RuntimeError(f"{type(pytree)} does not have a flatten_fn_spec associated with it.")
    leaves = []
    for child, child_spec in zip(SUPPORTED_NODES[spec.type](pytree, spec), spec.children_specs):
        leaves += tree_flatten_spec(child, child_spec)
    return leaves


def _dict_flatten_spec(d, spec):
    return [d[key] for key in spec.context]


def _list_flatten_spec(d, spec):
    return [d[i] for i in range(len(spec.children_specs))]


_tuple_flatten_spec = _list_flatten_spec
for _type, _flatten in ((dict, _dict_flatten_spec), (list, _list_flatten_spec), (tuple, _tuple_flatten_spec)):
    register_pytree_flatten_spec(_type, _flatten)
if torch._at_least(2, 13):
    SUPPORTED_NODES_EXACT_MATCH, tree_flatten, return_type = _exact, _trees.tree_flatten, tuple
else:
    LeafSpec = _trees.LeafSpec
    del torch
