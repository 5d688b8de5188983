# The wavelets of PyWavelets, whose own core is compiled: filters by the formulas that define them.
# Those that only a table defines are refused.
import _cobra
import numpy as np
from _wavelets import daubechies, splines

__all__ = ["MODES", "Modes", "DiscreteContinuousWavelet", "Wavelet", "ContinuousWavelet", "wavelist", "families"]
_BIORTHOGONAL = "1.1 1.3 1.5 2.2 2.4 2.6 2.8 3.1 3.3 3.5 3.7 3.9 4.4 5.5 6.8".split()
# Short name: long name, the numbers of its members ("" if there is one), whether it is discrete.
_FAMILIES = {
    "haar": ("Haar", [""], True),
    "db": ("Daubechies", range(1, 39), True),
    "sym": ("Symlets", range(2, 21), True),
    "coif": ("Coiflets", range(1, 18), True),
    "bior": ("Biorthogonal", _BIORTHOGONAL, True),
    "rbio": ("Reverse biorthogonal", _BIORTHOGONAL, True),
    "dmey": ("Discrete Meyer (FIR Approximation)", [""], True),
    "gaus": ("Gaussian", range(1, 9), False),
    "mexh": ("Mexican hat wavelet", [""], False),
    "morl": ("Morlet wavelet", [""], False),
    "cgau": ("Complex Gaussian wavelets", range(1, 9), False),
    "shan": ("Shannon wavelets", [""], False),
    "fbsp": ("Frequency B-Spline wavelets", [""], False),
    "cmor": ("Complex Morlet wavelets", [""], False),
}


class Modes:
    zero, symmetric, constant, smooth, periodic, periodization, reflect, antisymmetric, antireflect = range(9)
    modes = [
        "zero",
        "constant",
        "symmetric",
        "periodic",
        "smooth",
        "periodization",
        "reflect",
        "antisymmetric",
        "antireflect",
    ]

    @staticmethod
    def from_object(mode):
        if isinstance(mode, int):
            if not 0 <= mode <= 8:
                raise ValueError("Invalid mode.")
            return mode
        try:
            return getattr(Modes, mode)
        except AttributeError:
            raise ValueError(f"Unknown mode name '{mode}'.")


class MODES(Modes):
    pass


def families(short=True):
    return [name if short else names[0] for name, names in _FAMILIES.items()]


def wavelist(family=None, kind="all"):
    if kind not in ("all", "continuous", "discrete"):
        raise ValueError(f"Unrecognized value for `kind`: {kind}")
    found = []
    for name, (long_name, numbers, discrete) in _FAMILIES.items():
        if (kind == "all" or discrete == (kind == "discrete")) and family in (None, name, long_name):
            found += [f"{name}{number}" for number in numbers]
    if not found and family is not None and family not in _FAMILIES:
        raise ValueError(f"Invalid short family name '{family}'.")
    return found if family is not None else sorted(found, key=_natural)


def _natural(name):
    letters = name.rstrip("0123456789.")
    return letters, [int(part) for part in name[len(letters) :].split(".") if part]


def _family_of(name):
    letters = name.rstrip("0123456789.")
    if letters not in _FAMILIES or name not in wavelist(letters):
        return None, ""
    return letters, name[len(letters) :]


def _orthogonal(low):
    # (dec_lo, dec_hi, rec_lo, rec_hi) of the low-pass filter of the reconstruction.
    high = [v if k % 2 else -v for k, v in enumerate(low)]
    return low[::-1], high, low, high[::-1]


def _bank(family, number):
    if family == "haar":
        family, number = "db", "1"
    if family == "db" or (family == "sym" and number in ("2", "3")):
        return _orthogonal(daubechies(int(number)))
    if family in ("bior", "rbio") and number not in ("4.4", "5.5", "6.8"):
        dec_lo, rec_lo = splines(*(int(part) for part in number.split(".")))
        dec_hi = [v if k % 2 else -v for k, v in enumerate(rec_lo)]
        rec_hi = [-v if k % 2 else v for k, v in enumerate(dec_lo)]
        bank = (dec_lo, dec_hi, rec_lo, rec_hi)
        return tuple(f[::-1] for f in (bank[2], bank[3], bank[0], bank[1])) if family == "rbio" else bank
    _cobra.unsupported(
        f"pywt.Wavelet('{family}{number}')", "its filter is a table: give the filters themselves (filter_bank)"
    )


def _described(family, number):
    # (The symmetry, and how many moments of the wavelet and of the scaling function vanish.)
    first, _, second = number.partition(".")
    if family in ("bior", "rbio"):
        return "symmetric", int(first), int(second)
    if family == "dmey":
        return "symmetric", None, None
    if family == "coif":
        return "near symmetric", 2 * int(first), 2 * int(first) - 1
    return "near symmetric" if family == "sym" else "asymmetric", int(first or 1), 0


def _filters(bank):
    """Four filters of an even length, as numbers."""
    if len(bank) != 4:
        raise ValueError(f"Expected list of 4 filters coefficients, got {len(bank)} filters.")
    bank = [np.asarray(part).astype(np.float64).tolist() for part in bank]
    if not bank[0] or len({len(part) for part in bank}) != 1:
        raise ValueError("All filters in filter bank must have length greater than 0.")
    return [part + [0.0] * (len(part) % 2) for part in bank]


class Wavelet:
    def __init__(self, name="", filter_bank=None):
        if isinstance(name, tuple) and filter_bank is None:
            name, filter_bank = "", name
        if not name and filter_bank is None:
            raise TypeError("Wavelet name or filter bank must be specified.")
        self.name = name.lower() if filter_bank is None else name
        if filter_bank is None:
            family, number = _family_of(self.name)
            if family is None:
                raise ValueError(
                    f"Unknown wavelet name '{name}', check wavelist() for the list of available builtin wavelets."
                )
            if not _FAMILIES[family][2]:
                raise ValueError(
                    f"The `Wavelet` class is for discrete wavelets, {self.name} is a continuous wavelet.  Use "
                    "pywt.ContinuousWavelet instead"
                )
            bank = _bank(family, number)
            self.short_family_name, self.family_name = family, _FAMILIES[family][0]
            self.family_number = int(number.replace(".", "") or 0)
            self.orthogonal, self.biorthogonal = family not in ("bior", "rbio"), True
            self.symmetry, self.vanishing_moments_psi, self.vanishing_moments_phi = _described(family, number)
        else:
            bank = _filters(filter_bank.filter_bank if hasattr(filter_bank, "filter_bank") else filter_bank)
            self.short_family_name = self.family_name = ""
            self.family_number, self.orthogonal, self.biorthogonal = None, False, False
            self.symmetry, self.vanishing_moments_psi, self.vanishing_moments_phi = "unknown", 0, 0
        self.dec_lo, self.dec_hi, self.rec_lo, self.rec_hi = (list(part) for part in bank)

    dec_len = property(lambda self: len(self.dec_lo))
    rec_len = property(lambda self: len(self.rec_lo))
    number = property(lambda self: self.family_number)
    filter_bank = property(lambda self: (self.dec_lo, self.dec_hi, self.rec_lo, self.rec_hi))

    @property
    def inverse_filter_bank(self):
        return self.rec_lo[::-1], self.rec_hi[::-1], self.dec_lo[::-1], self.dec_hi[::-1]

    def get_filters_coeffs(self):
        return self.filter_bank

    def get_reverse_filters_coeffs(self):
        return self.inverse_filter_bank

    def __len__(self):
        return self.dec_len

    def wavefun(self, level=8):
        _cobra.unsupported("pywt.Wavelet.wavefun()")

    def __str__(self):
        return (
            f"Wavelet {self.name}\n  Family name:    {self.family_name}\n  Short name:     {self.short_family_name}\n"
            f"  Filters length: {self.dec_len}\n  Orthogonal:     {self.orthogonal}\n"
            f"  Biorthogonal:   {self.biorthogonal}\n  Symmetry:       {self.symmetry}\n"
            "  DWT:            True\n  CWT:            False"
        )

    def __repr__(self):
        return f"pywt._extensions._pywt.Wavelet(name='{self.name}', filter_bank={self.filter_bank!r})"


class ContinuousWavelet:
    def __init__(self, name="", dtype=None):
        _cobra.unsupported("pywt.ContinuousWavelet()")


def DiscreteContinuousWavelet(name="", filter_bank=None):
    if filter_bank is None and isinstance(name, str) and name.lower() not in wavelist(kind="discrete"):
        return ContinuousWavelet(name)
    return Wavelet(name, filter_bank)


def _check_dtype(data):
    kind = np.asarray(data).dtype
    return kind if kind in (np.float32, np.float64, np.complex64, np.complex128) else np.dtype("float64")
