import torch


class Function:
    # forward runs; nothing flows back
    def __init__(self, *args):
        raise RuntimeError("Legacy autograd function with non-static forward method is deprecated.")

    @classmethod
    def apply(cls, *args, **kwargs):
        ctx = _Context(args)
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args, **kwargs)
        output = cls.forward(*args, **kwargs)
        cls.setup_context(ctx, args, output)
        return output

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function"
        )


class _Context:
    def __init__(self, args):
        self.needs_input_grad = (False,) * len(args)
        self.saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    save_for_forward = save_for_backward

    def mark_dirty(self, *tensors):
        pass

    def mark_non_differentiable(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        pass


FunctionCtx = _Context


def Variable(data, requires_grad=False, volatile=False):
    return data


def grad(*args, **kwargs):
    torch._unsupported("torch.autograd.grad()", "gradients are not computed here")


def backward(*args, **kwargs):
    pass


class set_detect_anomaly(torch.no_grad):
    pass


class detect_anomaly(torch.no_grad):
    pass


set_grad_enabled, no_grad, enable_grad, inference_mode = (
    torch.set_grad_enabled,
    torch.no_grad,
    torch.enable_grad,
    torch.inference_mode,
)
