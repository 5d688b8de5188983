// pow(base, exponent, modulus) of integers of any size.
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

Result<Value> ModularPower(Interpreter& interp, BigInt b, BigInt e, BigInt m) {
  BigInt q, result(1);
  const bool negative_modulus = m.negative();
  if (negative_modulus) m = -m;
  COBRA_TRY(interp.Charge(ProductSteps(b.bits(), m.bits())));
  BigInt::FloorDivMod(b, m, &q, &b);
  if (e.negative()) {  // the modular inverse, by Euclid's algorithm
    BigInt r0 = m, r1 = b, t0(0), t1(1);
    while (!r1.zero()) {
      BigInt quotient, rest;
      COBRA_TRY(interp.Charge(1 + 16 * WordsSteps(r0.bits() + t1.bits()) +
                              2 * ProductSteps(r0.bits() - r1.bits(), m.bits())));
      BigInt::FloorDivMod(r0, r1, &quotient, &rest);
      BigInt t2 = t0 - quotient * t1;
      r0 = r1;
      r1 = rest;
      t0 = t1;
      t1 = t2;
    }
    if (BigInt::Compare(r0, BigInt(1)) != 0)
      return interp.Raise(interp.types().ValueError, "base is not invertible for the given modulus");
    BigInt::FloorDivMod(t0, m, &q, &b);
    e = -e;
  }
  for (int64_t i = 0; i < e.bits(); ++i) {
    // Two products and two remainders.
    COBRA_TRY(interp.Charge(1 + WordsSteps(e.bits()) + 6 * ProductSteps(m.bits(), m.bits())));
    if (e.ShiftRight(i).LowBits() & 1) BigInt::FloorDivMod(result * b, m, &q, &result);
    BigInt::FloorDivMod(b * b, m, &q, &b);
  }
  BigInt::FloorDivMod(result, m, &q, &result);
  if (negative_modulus && !result.zero()) result = result - m;
  return interp.NewInt(result);
}

}  // namespace cobra::python
