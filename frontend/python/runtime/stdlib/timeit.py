# There is no clock (time), so nothing can be timed.
import time

import _cobra

default_number, default_repeat = 1000000, 5
default_timer = time.perf_counter


def timeit(*args, **kwargs):
    _cobra.unsupported("timing a program with timeit")


repeat = timeit


class Timer:
    def __init__(self, stmt="pass", setup="pass", timer=default_timer, globals=None):
        self.stmt, self.setup, self.timer = stmt, setup, timer

    timeit = repeat = autorange = print_exc = timeit
