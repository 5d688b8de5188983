def parse_args(*args):
    return lambda function: function


def quantized_args(*args, **kwargs):
    return lambda function: function
