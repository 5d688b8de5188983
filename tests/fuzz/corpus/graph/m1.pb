

input0


m.0.weight

m.0.bias


m.1.weight

m.1.bias


m.5.weight


m.5.bias


m.1.running_mean

m.1.running_var

m.1.num_batches_tracked2U
conv2d
stride2

padding2

dilation2


groups26

batch_norm
eps!ñhãˆµøä>2
relu20
adaptive_avg_pool2d
output_size2
24
flatten
	start_dim
end_dimÿÿÿÿÿÿÿÿÿ2
linear: