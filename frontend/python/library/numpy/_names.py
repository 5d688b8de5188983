# What numpy has beside the functions that are here: a program may ask for it, pass it on and look
# whether it is there; what needs it is refused. No other name is numpy's.
import _cobra

_LACKED = """
ALLOW_THREADS BUFSIZE CLIP DataSource ERR_CALL ERR_DEFAULT ERR_IGNORE ERR_LOG ERR_PRINT ERR_RAISE ERR_WARN
FLOATING_POINT_SUPPORT FPE_DIVIDEBYZERO FPE_INVALID FPE_OVERFLOW FPE_UNDERFLOW MAXDIMS MAY_SHARE_BOUNDS
MAY_SHARE_EXACT RAISE SHIFT_DIVIDEBYZERO SHIFT_INVALID SHIFT_OVERFLOW SHIFT_UNDERFLOW Tester UFUNC_BUFSIZE_DEFAULT
UFUNC_PYVALS_NAME WRAP add_docstring add_newdoc add_newdoc_ufunc asmatrix bmat broadcast busday_count busday_offset
busdaycalendar byte_bounds cast char chararray clongdouble clongfloat compare_chararrays compat complex256 correlate
ctypeslib datetime_as_string datetime_data deprecate deprecate_with_doc disp einsum_path emath fastCopyAndTranspose
float128 format_parser from_dlpack get_array_wrap geterrcall geterrobj histogram2d histogramdd i0 info is_busday
isnat issubclass_ kaiser kernel_version lib longcomplex longdouble longfloat lookfor ma mat matrix maximum_sctype
memmap mintypecode nbytes nditer nested_iters numarray obj2sctype oldnumeric packbits poly polydiv polyfit polyint
polynomial real_if_close rec recarray recfromcsv recfromtxt record roots safe_eval sctype2char set_numeric_ops
set_string_function seterrcall seterrobj show_runtime sort_complex source test tracemalloc_domain typename
unpackbits unwrap use_hugepage version who
""".split()
_LATER = """
bitwise_count dtypes f2py matvec strings unique_all unique_counts unique_inverse vecmat
""".split()  # of NumPy 2


def _lacking(module):
    def hook(name):
        if name in _LACKED or name in _LATER:
            return _cobra.inert(module + "." + name)
        raise AttributeError("module '%s' has no attribute '%s'" % (module, name))

    return hook
