import torch


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    pointer = 0
    for param in parameters:
        param.data = vec[pointer : pointer + param.numel()].view_as(param).data
        pointer += param.numel()
