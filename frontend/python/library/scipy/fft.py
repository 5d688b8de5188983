# The transforms of numpy.fft. Those of single precision stay single.
import numpy as np
from numpy.fft import fftfreq, fftshift, rfftfreq

_SINGLE = (np.float16, np.float32, np.complex64)


def _as_given(transform, single):
    def method(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        made = transform(x, n, axis, norm)
        return made.astype(single) if np.asarray(x).dtype in _SINGLE else made

    return method


fft, ifft, rfft = (_as_given(transform, np.complex64) for transform in (np.fft.fft, np.fft.ifft, np.fft.rfft))
irfft = _as_given(np.fft.irfft, np.float32)
