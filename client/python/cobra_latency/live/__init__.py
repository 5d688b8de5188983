"""Takes a live torch.nn.Module into a graph.

    take.py       the way from a module to the graph, on one screen
    copies.py     the module's structure without its weights
    structure.py  deep copies of modules, faster than copy.deepcopy()
    recorder.py   records each call of a torch function while the copy runs on `meta` tensors
    creation.py   tensors that are made of no other
    kept.py       what the first run leaves for the second, which is the one that counts
    functions.py  which torch function is which operator
    binder.py     the arguments of a call by the signatures of the C++ reader (functions.def)
    indexing.py   x[index]
    outputs.py    what the most common calls return, without asking torch
    builder.py    tensors, constants and calls as the messages of graph.proto, by wire.py
    origins.py    the user's own lines
    guards.py     assertions, prints: what asks for values without changing the network

Nothing here is imported before a module is given: the rest of the package does without torch.
"""
