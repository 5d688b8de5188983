import _cobra


def swt_max_level(input_len):
    if input_len < 1:
        raise ValueError("Cannot apply swt to a size 0 signal.")
    return (input_len & -input_len).bit_length() - 1


def swt(*args, **kwargs):
    _cobra.unsupported("pywt.swt()", "compute it with torch")


swt_axis = swt
