import math


def _next_step(last, best, other, before, tolerance):
    # Brent: through two or three of the points if that converges, and to the middle if not. Points
    # are (x, f(x)).
    middle = (other[0] - best[0]) / 2
    if abs(before) <= tolerance or abs(best[1]) >= abs(last[1]):
        return middle, middle
    if last[0] == other[0]:
        step = -best[1] * (best[0] - last[0]) / (best[1] - last[1])
    else:
        to_last = (last[1] - best[1]) / (last[0] - best[0])
        to_other = (other[1] - best[1]) / (other[0] - best[0])
        step = -best[1] * (other[1] * to_other - last[1] * to_last) / (to_other * to_last * (other[1] - last[1]))
    if 2 * abs(step) < min(abs(before), 3 * abs(middle) - tolerance):
        return step, None
    return middle, middle


def brentq(f, a, b, args=(), xtol=2e-12, rtol=8.881784197001252e-16, maxiter=100, full_output=False, disp=True):
    if full_output:
        import _cobra

        _cobra.unsupported("scipy.optimize.brentq(full_output=True)")
    if not isinstance(args, tuple):
        args = (args,)
    if xtol <= 0:
        raise ValueError(f"xtol too small ({xtol:g} <= 0)")
    if rtol < 8.881784197001252e-16:
        raise ValueError(f"rtol too small ({rtol:g} < {8.881784197001252e-16:g})")
    last, best = (float(a), float(f(a, *args))), (float(b), float(f(b, *args)))
    for point in (last, best):
        if math.isnan(point[1]):
            raise ValueError("The function value at x=%s is NaN; solver cannot continue." % point[0])
        if point[1] == 0:
            return point[0]
    if (last[1] < 0) == (best[1] < 0):
        raise ValueError("f(a) and f(b) must have different signs")
    other, before, step = (0.0, 0.0), 0.0, 0.0
    for _ in range(maxiter):
        if last[1] != 0 and best[1] != 0 and (last[1] < 0) != (best[1] < 0):
            other, before, step = last, best[0] - last[0], best[0] - last[0]
        if abs(other[1]) < abs(best[1]):
            last, best, other = best, other, best
        tolerance = (xtol + rtol * abs(best[0])) / 2
        middle = (other[0] - best[0]) / 2
        if best[1] == 0 or abs(middle) < tolerance:
            return best[0]
        taken, restart = _next_step(last, best, other, before, tolerance)
        before, step = (step, taken) if restart is None else (restart, taken)
        last = best
        x = best[0] + (step if abs(step) > tolerance else math.copysign(tolerance, middle))
        best = (x, float(f(x, *args)))
        if math.isnan(best[1]):
            raise ValueError("The function value at x=%s is NaN; solver cannot continue." % x)
    if disp:
        raise RuntimeError("Failed to converge after %d iterations." % maxiter)
    return best[0]
