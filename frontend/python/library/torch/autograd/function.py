from torch.autograd import Function, FunctionCtx

InplaceFunction = Function


def once_differentiable(fn):
    return fn
