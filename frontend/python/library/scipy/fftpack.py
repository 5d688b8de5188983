# Its real transforms have a layout of their own and are not here.
import scipy.fft
from scipy.fft import fftfreq, fftshift


def fft(x, n=None, axis=-1, overwrite_x=False):
    return scipy.fft.fft(x, n, axis)


def ifft(x, n=None, axis=-1, overwrite_x=False):
    return scipy.fft.ifft(x, n, axis)
