# Numbers that nobody can know: those of a generator without a seed, and what a clock says. They may
# be drawn, kept and computed with; what one of them is must not be asked, for the network would
# differ from run to run. Only a text may hold one (a name, a label): that of one possible value.
import _cobra


def _computed(name):
    def operate(self, *others):
        values = [other._value if isinstance(other, Unknown) else other for other in others]
        if not all(isinstance(value, (int, float, complex)) for value in values):
            # A tensor of them would be one of unknown numbers, and is none of the program's.
            self._refuse()
        try:
            value = getattr(self._value, name)(*values)
            if value is NotImplemented:  # an integer's method, of a float
                value = getattr(float(self._value), name)(*values)
        except ArithmeticError:
            value = self._value
        return self._again(value)

    return operate


class Unknown:
    """`value` is a possible one."""

    def __init__(self, value, what, hint, note=None):
        self._value, self._what, self._hint, self._note = value, what, hint, note

    def _refuse(self, *args):
        _cobra.unsupported(self._what, self._hint)

    def _again(self, value):
        return Unknown(value, self._what, self._hint, self._note)

    def _cobra_in_text(self):
        # The value, for a text. C++ asks for it, too, for % and hex() (OfUnknownNumber).
        if self._note:
            _cobra.note(self._note)
        return self._value

    def _cobra_real(self):
        return self._again(float(self._value))

    def _cobra_whole(self):
        return self._again(int(self._value))

    def __copy__(self, memo=None):
        return self

    __deepcopy__ = __copy__

    def __repr__(self):
        return repr(self._cobra_in_text())

    def __format__(self, spec):
        return format(self._cobra_in_text(), spec)

    def __round__(self, digits=None):
        return self._again(round(self._value, digits))

    def __trunc__(self):
        return self._again(int(self._value))

    def __floor__(self):
        return self._again(int(self._value // 1))

    def __ceil__(self):
        return self._again(int(-(-self._value // 1)))

    for _name in "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow neg pos abs".split():
        locals()[f"__{_name}__"] = _computed(f"__{_name}__")
    del _name
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __bool__ = __int__ = __float__ = _refuse
    __index__ = __complex__ = _refuse

    def __getattr__(self, name):
        self._refuse()
