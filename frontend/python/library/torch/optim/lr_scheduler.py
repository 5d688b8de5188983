class _LRScheduler:
    def __init__(self, optimizer, *args, **kwargs):
        self.optimizer = optimizer


class LRScheduler(_LRScheduler):
    pass


class LambdaLR(_LRScheduler):
    pass


class StepLR(_LRScheduler):
    pass


class MultiStepLR(_LRScheduler):
    pass


class CosineAnnealingLR(_LRScheduler):
    pass


class OneCycleLR(_LRScheduler):
    pass


class ReduceLROnPlateau(_LRScheduler):
    pass


CosineAnnealingWarmRestarts = (
    ExponentialLR
) = PolynomialLR = ConstantLR = LinearLR = CyclicLR = SequentialLR = MultiplicativeLR = StepLR
