import enum


class ProfilerActivity(enum.Enum):
    CPU = 0
    CUDA = 1


class record_function:
    def __init__(self, name, args=None):
        pass

    def __call__(self, function):
        return function

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


class profile(record_function):
    def __init__(self, *args, **kwargs):
        pass

    def step(self):
        pass


def schedule(*args, **kwargs):
    return None


tensorboard_trace_handler = schedule
