def convert_conv2d_weight_memory_format(module, memory_format):
    return module


convert_conv3d_weight_memory_format = convert_conv2d_weight_memory_format
