# How long coefficients are. The transforms of arrays are refused.
import _cobra

from pywt._extensions._pywt import Modes


def dwt_coeff_len(data_len, filter_len, mode):
    if data_len < 1:
        raise ValueError("Value of data_len must be greater than zero.")
    if filter_len < 1:
        raise ValueError("Value of filter_len must be greater than zero.")
    if mode == Modes.periodization:
        return (data_len + 1) // 2
    return (data_len + filter_len - 1) // 2


def dwt_max_level(data_len, filter_len):
    if filter_len <= 1 or data_len < filter_len - 1:
        return 0
    return (data_len // (filter_len - 1)).bit_length() - 1


def _refused(name):
    def function(*args, **kwargs):
        _cobra.unsupported(f"pywt.{name}()", "compute it with torch")

    return function


dwt_axis, dwt_single, idwt_axis, idwt_single, downcoef, upcoef, upcoef_lo, upcoef_hi = (
    _refused(name) for name in ("dwt", "dwt", "idwt", "idwt", "downcoef", "upcoef", "upcoef", "upcoef")
)
