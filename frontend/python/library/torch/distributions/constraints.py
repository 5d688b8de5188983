import torch


class Constraint:
    is_discrete, event_dim = False, 0


class _Real(Constraint):
    def check(self, value):
        return value == value


class _Boolean(Constraint):
    def check(self, value):
        return (value == 0) | (value == 1)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _RealVector(Constraint):
    event_dim = 1

    def check(self, value):
        result = value == value
        return result.reshape(result.shape[:-1] + (-1,)).all(-1)


class greater_than(Constraint):
    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return self.lower_bound < value


class greater_than_eq(greater_than):
    def check(self, value):
        return self.lower_bound <= value


class interval(Constraint):
    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class integer_interval(interval):
    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


real, boolean, simplex, real_vector = _Real(), _Boolean(), _Simplex(), _RealVector()
positive, nonnegative, unit_interval = greater_than(0.0), greater_than_eq(0.0), interval(0.0, 1.0)
