// Of _cobra: the roots of polynomials, which filters of wavelets are made from.
#include <algorithm>
#include <complex>
#include <vector>

#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/native.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {

using Complex = std::complex<double>;

// All roots at once (Durand and Kerner), begun on a circle of this radius. `monic`: the lowest
// power first, without the highest.
std::vector<Complex> Roots(const std::vector<double>& monic, double radius, int rounds) {
  const size_t degree = monic.size();
  std::vector<Complex> roots(degree);
  const Complex turn = Complex(0.4, 0.9) / std::abs(Complex(0.4, 0.9));
  for (size_t i = 0; i < degree; ++i) roots[i] = i == 0 ? Complex(radius) : roots[i - 1] * turn;
  for (int round = 0; round < rounds; ++round) {
    double largest = 0;
    for (size_t i = 0; i < degree; ++i) {
      Complex value = 1;
      for (size_t k = degree; k-- > 0;) value = value * roots[i] + monic[k];
      for (size_t j = 0; j < degree; ++j) {
        if (j != i) value /= roots[i] - roots[j];
      }
      roots[i] -= value;
      largest = std::max(largest, std::abs(value));
    }
    if (largest < 1e-13) break;
  }
  return roots;
}

// polynomial_roots(coefficients, radius): the highest power last
Result<Value> PolynomialRoots(Interpreter& interp, const CallArgs& args) {
  constexpr size_t kMost = 64;
  constexpr int kRounds = 400;
  std::vector<double> coefficients;
  double radius = 1;
  ArgReader reader(interp, "polynomial_roots", args);
  COBRA_TRY(reader.Required("coefficients", &coefficients).Required("radius", &radius).Finish());
  if (coefficients.size() > kMost || coefficients.empty() || coefficients.back() == 0)
    return interp.Raise(interp.types().ValueError, "polynomial_roots(): no such polynomial");
  const auto degree = static_cast<int64_t>(coefficients.size()) - 1;
  COBRA_TRY(interp.Charge(1 + degree * degree * kRounds / 16));
  const double highest = coefficients.back();
  coefficients.pop_back();
  for (double& c : coefficients) c /= highest;
  std::vector<Value> out;
  for (const Complex root : Roots(coefficients, radius, kRounds))
    out.push_back(interp.NewComplex(root.real(), root.imag()));
  return Value(interp.NewList(out));
}

}  // namespace

void AddPolynomialFunctions(NativeModuleBuilder& m) { m.Function("polynomial_roots", PolynomialRoots); }

}  // namespace cobra::python
