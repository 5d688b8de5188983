#include "frontend/python/runtime/heap/big_int.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cobra::python {
namespace {

int BitWidth(uint32_t x) { return x == 0 ? 0 : 32 - __builtin_clz(x); }

// u[0..n] -= q * v[0..n). True if the difference is negative: u then holds it modulo 2^(32 (n +
// 1)).
bool SubtractProduct(uint32_t* u, const uint32_t* v, size_t n, uint64_t q) {
  int64_t borrow = 0;
  uint64_t carry = 0;
  for (size_t i = 0; i < n; ++i) {
    uint64_t p = q * v[i] + carry;
    carry = p >> 32;
    int64_t t = static_cast<int64_t>(u[i]) - borrow - static_cast<int64_t>(p & 0xffffffffu);
    u[i] = static_cast<uint32_t>(t);
    borrow = t < 0 ? 1 : 0;
  }
  int64_t t = static_cast<int64_t>(u[n]) - borrow - static_cast<int64_t>(carry);
  u[n] = static_cast<uint32_t>(t);
  return t < 0;
}

// u[0..n] += v[0..n), modulo 2^(32 (n + 1)).
void AddBack(uint32_t* u, const uint32_t* v, size_t n) {
  uint64_t carry = 0;
  for (size_t i = 0; i < n; ++i) {
    carry += static_cast<uint64_t>(u[i]) + v[i];
    u[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  u[n] += static_cast<uint32_t>(carry);
}

}  // namespace

BigInt::BigInt(int64_t value) : negative_(value < 0) {
  uint64_t m = value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  for (; m != 0; m >>= 32) limbs_.push_back(static_cast<uint32_t>(m));
}

BigInt BigInt::FromDouble(double value) {
  int exponent;
  double fraction = std::frexp(std::fabs(std::trunc(value)), &exponent);
  if (fraction == 0) return BigInt();
  BigInt r(static_cast<int64_t>(std::ldexp(fraction, 53)));
  r = exponent >= 53 ? r.ShiftLeft(exponent - 53) : r.ShiftRight(53 - exponent);
  r.negative_ = value < 0 && !r.zero();
  return r;
}

bool BigInt::Parse(absl::string_view digits, int base, BigInt* out) {
  if (digits.empty()) return false;
  BigInt r;
  for (char c : digits) {
    int d = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'z' ? c - 'a' + 10
            : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                   : 99;
    if (d >= base) return false;
    uint64_t carry = static_cast<uint64_t>(d);
    for (uint32_t& limb : r.limbs_) {
      carry += static_cast<uint64_t>(limb) * static_cast<uint64_t>(base);
      limb = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) r.limbs_.push_back(static_cast<uint32_t>(carry));
  }
  *out = std::move(r);
  return true;
}

BigInt BigInt::FromBytes(absl::string_view bytes) {
  BigInt r;
  r.limbs_.assign((bytes.size() + 3) / 4, 0);
  for (size_t i = 0; i < bytes.size(); ++i)
    r.limbs_[i / 4] |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * (i % 4));
  r.Trim();
  return r;
}

uint8_t BigInt::Byte(int64_t index) const {
  const size_t limb = static_cast<size_t>(index) / 4;
  return limb < limbs_.size() ? static_cast<uint8_t>(limbs_[limb] >> (8 * (index % 4))) : 0;
}

void BigInt::Trim() {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  if (limbs_.empty()) negative_ = false;
}

int64_t BigInt::bits() const {
  return limbs_.empty() ? 0 : static_cast<int64_t>(limbs_.size() - 1) * 32 + BitWidth(limbs_.back());
}

bool BigInt::FitsInt64() const {
  if (limbs_.size() < 2) return true;
  if (limbs_.size() > 2) return false;
  uint64_t m = static_cast<uint64_t>(limbs_[1]) << 32 | limbs_[0];
  return negative_ ? m <= uint64_t{1} << 63 : m < uint64_t{1} << 63;
}

int64_t BigInt::ToInt64() const { return static_cast<int64_t>(LowBits()); }

uint64_t BigInt::LowBits() const {
  uint64_t m = 0;
  if (!limbs_.empty()) m = limbs_[0];
  if (limbs_.size() > 1) m |= static_cast<uint64_t>(limbs_[1]) << 32;
  return negative_ ? uint64_t{0} - m : m;
}

double BigInt::ToDouble() const {
  int64_t n = bits();
  if (n <= 64) {
    uint64_t m = 0;
    for (size_t i = limbs_.size(); i > 0; --i) m = m << 32 | limbs_[i - 1];
    double d = static_cast<double>(m);
    return negative_ ? -d : d;
  }
  if (n > 1024) return negative_ ? -HUGE_VAL : HUGE_VAL;
  // The top 64 bits with a sticky low bit round as the whole number does.
  BigInt magnitude = *this;
  magnitude.negative_ = false;
  BigInt top = magnitude.ShiftRight(n - 64);
  uint64_t m = top.LowBits();
  if (CompareMagnitude(top.ShiftLeft(n - 64), magnitude) != 0) m |= 1;
  double d = std::ldexp(static_cast<double>(m), static_cast<int>(n - 64));
  return negative_ ? -d : d;
}

std::string BigInt::ToString(int base) const {
  if (zero()) return "0";
  std::string digits;
  std::vector<uint32_t> work = limbs_;
  // Chunks of as many digits as fit 32 bits.
  uint32_t chunk = static_cast<uint32_t>(base);
  int per_chunk = 1;
  while (static_cast<uint64_t>(chunk) * static_cast<uint64_t>(base) <= 0xffffffffu) {
    chunk *= static_cast<uint32_t>(base);
    ++per_chunk;
  }
  while (!work.empty()) {
    uint64_t rest = 0;
    for (size_t i = work.size(); i > 0; --i) {
      rest = rest << 32 | work[i - 1];
      work[i - 1] = static_cast<uint32_t>(rest / chunk);
      rest %= chunk;
    }
    while (!work.empty() && work.back() == 0) work.pop_back();
    for (int i = 0; i < per_chunk && (rest != 0 || !work.empty()); ++i) {
      digits.push_back("0123456789abcdefghijklmnopqrstuvwxyz"[rest % static_cast<uint64_t>(base)]);
      rest /= static_cast<uint64_t>(base);
    }
  }
  if (negative_) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

int BigInt::CompareMagnitude(const BigInt& a, const BigInt& b) {
  if (a.limbs_.size() != b.limbs_.size()) return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
  for (size_t i = a.limbs_.size(); i > 0; --i) {
    if (a.limbs_[i - 1] != b.limbs_[i - 1]) return a.limbs_[i - 1] < b.limbs_[i - 1] ? -1 : 1;
  }
  return 0;
}

BigInt BigInt::AddMagnitude(const BigInt& a, const BigInt& b) {
  BigInt r;
  size_t n = std::max(a.limbs_.size(), b.limbs_.size());
  uint64_t carry = 0;
  for (size_t i = 0; i < n || carry != 0; ++i) {
    if (i < a.limbs_.size()) carry += a.limbs_[i];
    if (i < b.limbs_.size()) carry += b.limbs_[i];
    r.limbs_.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  return r;
}

BigInt BigInt::SubMagnitude(const BigInt& a, const BigInt& b) {
  BigInt r;
  int64_t borrow = 0;
  for (size_t i = 0; i < a.limbs_.size(); ++i) {
    int64_t d =
        static_cast<int64_t>(a.limbs_[i]) - borrow - (i < b.limbs_.size() ? static_cast<int64_t>(b.limbs_[i]) : 0);
    borrow = d < 0;
    r.limbs_.push_back(static_cast<uint32_t>(d));
  }
  r.Trim();
  return r;
}

BigInt operator+(const BigInt& a, const BigInt& b) {
  BigInt r;
  if (a.negative_ == b.negative_) {
    r = BigInt::AddMagnitude(a, b);
    r.negative_ = a.negative_;
  } else if (BigInt::CompareMagnitude(a, b) >= 0) {
    r = BigInt::SubMagnitude(a, b);
    r.negative_ = a.negative_;
  } else {
    r = BigInt::SubMagnitude(b, a);
    r.negative_ = b.negative_;
  }
  r.Trim();
  return r;
}

BigInt BigInt::operator-() const {
  BigInt r = *this;
  if (!r.zero()) r.negative_ = !r.negative_;
  return r;
}

BigInt operator-(const BigInt& a, const BigInt& b) { return a + (-b); }

BigInt operator*(const BigInt& a, const BigInt& b) {
  BigInt r;
  r.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (size_t i = 0; i < a.limbs_.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += static_cast<uint64_t>(a.limbs_[i]) * b.limbs_[j] + r.limbs_[i + j];
      r.limbs_[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    r.limbs_[i + b.limbs_.size()] = static_cast<uint32_t>(carry);
  }
  r.negative_ = a.negative_ != b.negative_;
  r.Trim();
  return r;
}

// Knuth's algorithm D on magnitudes.
void BigInt::DivModMagnitude(const BigInt& a, const BigInt& b, BigInt* quotient, BigInt* remainder) {
  *quotient = BigInt();
  *remainder = BigInt();
  if (CompareMagnitude(a, b) < 0) {
    *remainder = a;
    remainder->negative_ = false;
    return;
  }
  if (b.limbs_.size() == 1) {
    uint64_t rest = 0;
    quotient->limbs_.assign(a.limbs_.size(), 0);
    for (size_t i = a.limbs_.size(); i > 0; --i) {
      rest = rest << 32 | a.limbs_[i - 1];
      quotient->limbs_[i - 1] = static_cast<uint32_t>(rest / b.limbs_[0]);
      rest %= b.limbs_[0];
    }
    quotient->Trim();
    *remainder = BigInt(static_cast<int64_t>(rest));
    return;
  }
  int shift = 32 - BitWidth(b.limbs_.back());
  BigInt u = a, v = b;
  u.negative_ = v.negative_ = false;
  u = u.ShiftLeft(shift);
  v = v.ShiftLeft(shift);
  size_t n = v.limbs_.size();
  u.limbs_.resize(std::max(u.limbs_.size(), a.limbs_.size()) + 1, 0);
  size_t m = u.limbs_.size() - n - 1;
  quotient->limbs_.assign(m + 1, 0);
  for (size_t j = m + 1; j-- > 0;) {
    uint64_t numerator = static_cast<uint64_t>(u.limbs_[j + n]) << 32 | u.limbs_[j + n - 1];
    uint64_t q = numerator / v.limbs_[n - 1];
    uint64_t r = numerator % v.limbs_[n - 1];
    while (q > 0xffffffffu || q * v.limbs_[n - 2] > (r << 32 | u.limbs_[j + n - 2])) {
      --q;
      r += v.limbs_[n - 1];
      if (r > 0xffffffffu) break;
    }
    if (SubtractProduct(&u.limbs_[j], v.limbs_.data(), n, q)) {
      --q;
      AddBack(&u.limbs_[j], v.limbs_.data(), n);
    }
    quotient->limbs_[j] = static_cast<uint32_t>(q);
  }
  quotient->Trim();
  u.Trim();
  *remainder = u.ShiftRight(shift);
}

void BigInt::FloorDivMod(const BigInt& a, const BigInt& b, BigInt* quotient, BigInt* remainder) {
  BigInt q, r;
  DivModMagnitude(a, b, &q, &r);
  q.negative_ = !q.zero() && a.negative_ != b.negative_;
  r.negative_ = !r.zero() && a.negative_;
  if (!r.zero() && r.negative_ != b.negative_) {
    q = q - BigInt(1);
    r = r + b;
  }
  *quotient = std::move(q);
  *remainder = std::move(r);
}

BigInt BigInt::ShiftLeft(int64_t bits) const {
  if (zero() || bits == 0) return *this;
  BigInt r;
  r.negative_ = negative_;
  size_t limbs = static_cast<size_t>(bits / 32);
  int rest = static_cast<int>(bits % 32);
  r.limbs_.assign(limbs, 0);
  uint32_t carry = 0;
  for (uint32_t limb : limbs_) {
    r.limbs_.push_back(limb << rest | carry);
    carry = rest == 0 ? 0 : limb >> (32 - rest);
  }
  if (carry != 0) r.limbs_.push_back(carry);
  return r;
}

BigInt BigInt::ShiftRight(int64_t bits) const {
  size_t limbs = static_cast<size_t>(bits / 32);
  if (limbs >= limbs_.size()) return negative_ ? BigInt(-1) : BigInt();
  int rest = static_cast<int>(bits % 32);
  BigInt r;
  bool lost = false;
  for (size_t i = 0; i < limbs; ++i) lost |= limbs_[i] != 0;
  if (rest != 0) lost |= (limbs_[limbs] & ((uint32_t{1} << rest) - 1)) != 0;
  for (size_t i = limbs; i < limbs_.size(); ++i) {
    uint32_t high = i + 1 < limbs_.size() && rest != 0 ? limbs_[i + 1] << (32 - rest) : 0;
    r.limbs_.push_back(limbs_[i] >> rest | high);
  }
  r.negative_ = negative_;
  r.Trim();
  if (negative_ && lost) r = r - BigInt(1);
  return r;
}

BigInt BigInt::BitOperation(Bitwise op, const BigInt& a, const BigInt& b) {
  size_t n = std::max(a.limbs_.size(), b.limbs_.size()) + 1;
  auto complement = [n](const BigInt& x) {
    std::vector<uint32_t> w = x.limbs_;
    w.resize(n, 0);
    if (x.negative_) {
      uint64_t carry = 1;
      for (uint32_t& limb : w) {
        carry += static_cast<uint32_t>(~limb);
        limb = static_cast<uint32_t>(carry);
        carry >>= 32;
      }
    }
    return w;
  };
  std::vector<uint32_t> x = complement(a), y = complement(b);
  for (size_t i = 0; i < n; ++i) {
    x[i] = op == Bitwise::kAnd ? x[i] & y[i] : op == Bitwise::kOr ? x[i] | y[i] : x[i] ^ y[i];
  }
  BigInt r;
  r.negative_ = x.back() >> 31;
  if (r.negative_) {
    uint64_t carry = 1;
    for (uint32_t& limb : x) {
      carry += static_cast<uint32_t>(~limb);
      limb = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  r.limbs_ = std::move(x);
  r.Trim();
  return r;
}

int BigInt::Compare(const BigInt& a, const BigInt& b) {
  if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
  int c = CompareMagnitude(a, b);
  return a.negative_ ? -c : c;
}

uint64_t BigInt::ModMersenne61() const {
  constexpr uint64_t kModulus = (uint64_t{1} << 61) - 1;
  uint64_t r = 0;
  for (size_t i = limbs_.size(); i > 0; --i) {
    unsigned __int128 t = (static_cast<unsigned __int128>(r) << 32) + limbs_[i - 1];
    r = static_cast<uint64_t>(t % kModulus);
  }
  return r;
}

double BigInt::TrueDivide(const BigInt& a, const BigInt& b) {
  if (a.zero()) return b.negative_ ? -0.0 : 0.0;
  // Scaled so that the quotient has 64 to 66 bits; a sticky bit represents the remainder.
  int64_t shift = 65 - (a.bits() - b.bits());
  BigInt x = a, y = b;
  x.negative_ = y.negative_ = false;
  if (shift > 0) x = x.ShiftLeft(shift);
  if (shift < 0) y = y.ShiftLeft(-shift);
  BigInt q, r;
  DivModMagnitude(x, y, &q, &r);
  int64_t result_bits = q.bits() - shift;
  bool negative = a.negative_ != b.negative_;
  if (result_bits > 1025) return negative ? -HUGE_VAL : HUGE_VAL;
  if (result_bits < -1100) return negative ? -0.0 : 0.0;
  // Keep 53 bits, fewer for a subnormal result, and round once.
  int64_t keep = std::min<int64_t>(53, result_bits + 1074);
  if (keep < 0) return negative ? -0.0 : 0.0;
  int64_t drop = q.bits() - keep;
  BigInt high = q.ShiftRight(drop);
  BigInt low = q - high.ShiftLeft(drop);
  BigInt half = BigInt(1).ShiftLeft(drop - 1);
  int c = CompareMagnitude(low, half);
  if (c == 0 && !r.zero()) c = 1;
  uint64_t m = high.LowBits();
  if (c > 0 || (c == 0 && (m & 1))) ++m;
  double d = std::ldexp(static_cast<double>(m), static_cast<int>(drop - shift));
  return negative ? -d : d;
}

}  // namespace cobra::python
