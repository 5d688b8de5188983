// math.gamma and math.lgamma as CPython computes them (Lanczos's sum, Modules/mathmodule.c): the
// results of the C library differ in the last digit.
#include <cmath>

#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {

constexpr int kTerms = 13;
constexpr double kG = 6.024680040776729583740234375, kGMinusHalf = 5.524680040776729583740234375;
constexpr double kNumerator[kTerms] = {
    23531376880.410759688572007674451636754734846804940, 42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843, 17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708, 1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801, 31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768, 186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024, 210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408};
constexpr double kDenominator[kTerms] = {0.0,        39916800.0, 120543840.0, 150917976.0, 105258076.0,
                                         45995730.0, 13339535.0, 2637558.0,   357423.0,    32670.0,
                                         1925.0,     66.0,       1.0};

double LanczosSum(double x) {
  double numerator = 0, denominator = 0;
  for (int i = 0; i < kTerms; ++i) {
    int k = x < 5 ? kTerms - 1 - i : i;
    numerator = x < 5 ? numerator * x + kNumerator[k] : numerator / x + kNumerator[k];
    denominator = x < 5 ? denominator * x + kDenominator[k] : denominator / x + kDenominator[k];
  }
  return numerator / denominator;
}

double SinPi(double x) {
  double y = std::fmod(std::fabs(x), 2.0), r = 0;
  switch (static_cast<int>(std::round(2.0 * y))) {
    case 0: r = std::sin(M_PI * y); break;
    case 1: r = std::cos(M_PI * (y - 0.5)); break;
    case 2: r = std::sin(M_PI * (1.0 - y)); break;
    case 3: r = -std::cos(M_PI * (y - 1.5)); break;
    default: r = std::sin(M_PI * (y - 2.0));
  }
  return std::copysign(1.0, x) * r;
}

}  // namespace

double Gamma(double x) {
  if (std::isnan(x) || x == HUGE_VAL) return x;
  if (x == -HUGE_VAL || (x <= 0 && x == std::floor(x))) return std::nan("");
  if (x == std::floor(x) && x <= 23) {
    double r = 1;
    for (int i = 2; i < static_cast<int>(x); ++i) r *= i;
    return r;
  }
  double a = std::fabs(x);
  if (a < 1e-20) return 1.0 / x;
  if (a > 200.0) return x < 0 ? 0.0 / SinPi(x) : HUGE_VAL;
  double y = a + kGMinusHalf;
  double z = a > kGMinusHalf ? (y - a) - kGMinusHalf : (y - kGMinusHalf) - a;
  z = z * kG / y;
  double r = x < 0 ? -M_PI / SinPi(a) / a * std::exp(y) / LanczosSum(a) : LanczosSum(a) / std::exp(y);
  r += x < 0 ? -z * r : z * r;
  double power = a < 140.0 ? std::pow(y, a - 0.5) : std::pow(y, a / 2.0 - 0.25);
  for (int i = 0; i < (a < 140.0 ? 1 : 2); ++i) r = x < 0 ? r / power : r * power;
  return r;
}

double LogGamma(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return HUGE_VAL;
  if (x == std::floor(x) && x <= 2.0) return x <= 0 ? std::nan("") : 0.0;
  double a = std::fabs(x);
  if (a < 1e-20) return -std::log(a);
  double r = std::log(LanczosSum(a)) - kG;
  r += (a - 0.5) * (std::log(a + kG - 0.5) - 1);
  if (x < 0) r = 1.144729885849400174143427351353058711647 - std::log(std::fabs(SinPi(a))) - std::log(a) - r;
  return r;
}

}  // namespace cobra::python
