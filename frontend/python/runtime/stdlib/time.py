# There is no clock: what it says may be kept, subtracted and shown, and no network may depend on
# it.
import _cobra


class _Clock:
    def _same(self, *others):
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __floordiv__ = _same
    __neg__ = __pos__ = __abs__ = __round__ = _same

    def _refuse(self, *args):
        _cobra.unsupported(
            "asking what the clock says", "a latency cannot depend on the clock: keep it out of the way of the model"
        )

    __rfloordiv__ = (
        __mod__
    ) = __rmod__ = __pow__ = __rpow__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = __bool__ = __int__ = __float__ = __index__ = __trunc__ = __floor__ = __ceil__ = __complex__ = _refuse
    __getattr__ = _refuse

    def __repr__(self):
        return "0.0"

    def __format__(self, spec):
        return format(0.0, spec)


_clock = _Clock()


def time():
    return _clock


time_ns = perf_counter = perf_counter_ns = monotonic = monotonic_ns = process_time = process_time_ns = time
thread_time = thread_time_ns = time


def sleep(secs):
    pass


def tzset():
    pass


timezone, altzone, daylight, tzname = 0, 0, 0, ("UTC", "UTC")
