class Optimizer:
    def __init__(self, params, *args, **kwargs):
        self.param_groups = [{"params": params, **kwargs}]
        self.state = {}
        self.defaults = kwargs

    def zero_grad(self, set_to_none=True):
        pass

    def step(self, closure=None):
        raise RuntimeError("torch.optim does not run here")


class SGD(Optimizer):
    pass


class Adam(Optimizer):
    pass


class AdamW(Optimizer):
    pass


class RMSprop(Optimizer):
    pass


class Adagrad(Optimizer):
    pass


class LBFGS(Optimizer):
    pass


class Adadelta(Optimizer):
    pass


class Adamax(Optimizer):
    pass


class NAdam(Optimizer):
    pass


class RAdam(Optimizer):
    pass


class Rprop(Optimizer):
    pass


class ASGD(Optimizer):
    pass


class SparseAdam(Optimizer):
    pass
