# What torch.fx gets to know of the containers of a program. It is kept and not asked for: a trace finds the tensors of any object.
SUPPORTED_NODES = {}
SUPPORTED_NODES_EXACT_MATCH = {}


def register_pytree_flatten_spec(cls, flatten_fn_spec, flatten_fn_exact_match_spec=None):
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _dict_flatten_spec(d, spec):
    return [d[key] for key in spec.context]


def _list_flatten_spec(d, spec):
    return [d[i] for i in range(len(spec.children_specs))]


_tuple_flatten_spec = _list_flatten_spec
