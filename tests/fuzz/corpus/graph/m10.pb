

input0

m.weight

m.bias
2:

group_norm

num_groups
eps!ñhãˆµøä>: