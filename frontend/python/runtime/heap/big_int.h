// Integers beyond 64 bits: sign and magnitude, schoolbook arithmetic. Limits::big_int_bits keeps
// the quadratic parts short.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_BIG_INT_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_BIG_INT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::python {

class BigInt {
 public:
  BigInt() = default;
  BigInt(int64_t value);  // NOLINT
  // Truncates; the value must be finite.
  static BigInt FromDouble(double value);
  // Digits of `base` (2 to 36), without sign or blanks; false for anything else, also for "".
  static bool Parse(absl::string_view digits, int base, BigInt* out);
  // Of the magnitude: little endian.
  static BigInt FromBytes(absl::string_view bytes);
  uint8_t Byte(int64_t index) const;

  bool negative() const { return negative_; }
  bool zero() const { return limbs_.empty(); }
  int64_t bits() const;  // of the magnitude
  bool FitsInt64() const;
  int64_t ToInt64() const;   // REQUIRES: FitsInt64()
  uint64_t LowBits() const;  // the low 64 bits of the two's complement form
  // Rounded to nearest even; infinity if too large.
  double ToDouble() const;
  std::string ToString(int base = 10) const;

  friend BigInt operator+(const BigInt& a, const BigInt& b);
  friend BigInt operator-(const BigInt& a, const BigInt& b);
  friend BigInt operator*(const BigInt& a, const BigInt& b);
  BigInt operator-() const;
  // Python's: rounded towards minus infinity, the remainder has the divisor's sign. REQUIRES: b is
  // not zero.
  static void FloorDivMod(const BigInt& a, const BigInt& b, BigInt* quotient, BigInt* remainder);
  BigInt ShiftLeft(int64_t bits) const;
  BigInt ShiftRight(int64_t bits) const;  // arithmetic: rounds down
  enum class Bitwise { kAnd, kOr, kXor };
  static BigInt BitOperation(Bitwise op, const BigInt& a, const BigInt& b);
  static int Compare(const BigInt& a, const BigInt& b);  // -1, 0, 1
  friend bool operator==(const BigInt& a, const BigInt& b) { return Compare(a, b) == 0; }
  friend bool operator!=(const BigInt& a, const BigInt& b) { return Compare(a, b) != 0; }
  uint64_t ModMersenne61() const;  // of the magnitude, modulo 2^61 - 1: Python's hash
  // a / b rounded to nearest even. REQUIRES: b is not zero.
  static double TrueDivide(const BigInt& a, const BigInt& b);

 private:
  void Trim();
  static int CompareMagnitude(const BigInt& a, const BigInt& b);
  static BigInt AddMagnitude(const BigInt& a, const BigInt& b);
  static BigInt SubMagnitude(const BigInt& a, const BigInt& b);  // |a| >= |b|
  static void DivModMagnitude(const BigInt& a, const BigInt& b, BigInt* quotient, BigInt* remainder);

  bool negative_ = false;
  std::vector<uint32_t> limbs_;  // little endian, no leading zeros
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_BIG_INT_H_
