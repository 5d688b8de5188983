

input0
2(
split

split_size2

dim::