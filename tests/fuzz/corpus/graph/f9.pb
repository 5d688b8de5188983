

input0
26
tensor_unfold
	dimension
size
step: