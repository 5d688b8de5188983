#include "frontend/ncnn/expression.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace cobra::ncnn {
namespace {

constexpr size_t kMostBytes = 255;  // the longest text that ncnn reads; also bounds how deeply calls are nested

struct Number {
  bool is_real = false;
  int64_t whole = 0;  // an int32
  float real = 0;

  float AsReal() const { return is_real ? real : static_cast<float>(whole); }
};

// What a name does to one number or two. Without `of_whole` the result is real for whole numbers
// too; without `of_real` there is none for real ones.
struct Operator {
  absl::string_view name;
  size_t arity;
  int64_t (*of_whole)(int64_t, int64_t);
  float (*of_real)(float, float);
  bool rounds = false;  // the result is whole for real numbers too
};

float Remainder(float a, float b) {
  const float r = std::fmod(a, b);
  return a * b < 0 ? r + b : r;
}

int64_t Same(int64_t a, int64_t) { return a; }

constexpr Operator kOperators[] = {
    {"+", 2, [](int64_t a, int64_t b) { return a + b; }, [](float a, float b) { return a + b; }},
    {"-", 2, [](int64_t a, int64_t b) { return a - b; }, [](float a, float b) { return a - b; }},
    {"*", 2, [](int64_t a, int64_t b) { return a * b; }, [](float a, float b) { return a * b; }},
    {"//", 2, [](int64_t a, int64_t b) { return a / b; }, [](float a, float b) { return std::floor(a / b); }},
    {"max", 2, [](int64_t a, int64_t b) { return std::max(a, b); }, [](float a, float b) { return std::max(a, b); }},
    {"min", 2, [](int64_t a, int64_t b) { return std::min(a, b); }, [](float a, float b) { return std::min(a, b); }},
    {"abs", 1, [](int64_t a, int64_t) { return std::abs(a); }, [](float a, float) { return std::abs(a); }},
    {"neg", 1, [](int64_t a, int64_t) { return -a; }, [](float a, float) { return -a; }},
    {"sign", 1, [](int64_t a, int64_t) { return static_cast<int64_t>((a > 0) - (a < 0)); },
     [](float a, float) { return static_cast<float>((a > 0) - (a < 0)); }},
    {"square", 1, [](int64_t a, int64_t) { return a * a; }, [](float a, float) { return a * a; }},
    {"trunc", 1, Same, [](float a, float) { return std::trunc(a); }, true},
    {"ceil", 1, Same, [](float a, float) { return std::ceil(a); }, true},
    {"floor", 1, Same, [](float a, float) { return std::floor(a); }, true},
    {"round", 1, Same, [](float a, float) { return std::round(a); }, true},
    {"acos", 1, nullptr, [](float a, float) { return std::acos(a); }},
    {"acosh", 1, nullptr, [](float a, float) { return std::acosh(a); }},
    {"asin", 1, nullptr, [](float a, float) { return std::asin(a); }},
    {"asinh", 1, nullptr, [](float a, float) { return std::asinh(a); }},
    {"atan", 1, nullptr, [](float a, float) { return std::atan(a); }},
    {"atanh", 1, nullptr, [](float a, float) { return std::atanh(a); }},
    {"cos", 1, nullptr, [](float a, float) { return std::cos(a); }},
    {"cosh", 1, nullptr, [](float a, float) { return std::cosh(a); }},
    {"erf", 1, nullptr, [](float a, float) { return std::erf(a); }},
    {"exp", 1, nullptr, [](float a, float) { return std::exp(a); }},
    {"log", 1, nullptr, [](float a, float) { return std::log(a); }},
    {"log10", 1, nullptr, [](float a, float) { return std::log10(a); }},
    {"reciprocal", 1, nullptr, [](float a, float) { return 1 / a; }},
    {"rsqrt", 1, nullptr, [](float a, float) { return 1 / std::sqrt(a); }},
    {"sin", 1, nullptr, [](float a, float) { return std::sin(a); }},
    {"sinh", 1, nullptr, [](float a, float) { return std::sinh(a); }},
    {"sqrt", 1, nullptr, [](float a, float) { return std::sqrt(a); }},
    {"tan", 1, nullptr, [](float a, float) { return std::tan(a); }},
    {"tanh", 1, nullptr, [](float a, float) { return std::tanh(a); }},
    {"/", 2, nullptr, [](float a, float b) { return a / b; }},
    {"atan2", 2, nullptr, [](float a, float b) { return std::atan2(a, b); }},
    {"fmod", 2, nullptr, [](float a, float b) { return std::fmod(a, b); }},
    {"pow", 2, nullptr, [](float a, float b) { return std::pow(a, b); }},
    {"remainder", 2, nullptr, Remainder},
    {"and", 2, [](int64_t a, int64_t b) { return a & b; }, nullptr},
    {"or", 2, [](int64_t a, int64_t b) { return a | b; }, nullptr},
    {"xor", 2, [](int64_t a, int64_t b) { return a ^ b; }, nullptr},
    {"lshift", 2, [](int64_t a, int64_t b) { return a * (int64_t{1} << b); }, nullptr},
    {"rshift", 2, [](int64_t a, int64_t b) { return a >> b; }, nullptr},
};

absl::Status Error(const std::string& what) { return absl::InvalidArgumentError(what); }

absl::StatusOr<Number> WholeNumber(double value) {
  if (!(value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()))
    return Error(absl::StrCat("a number is ", value, ", which is beyond 32 bits"));
  return Number{false, static_cast<int64_t>(value)};
}

absl::StatusOr<Number> Apply(absl::string_view name, const std::vector<Number>& arguments) {
  if (name == "logaddexp") return absl::UnimplementedError("logaddexp");
  const auto* op = std::find_if(std::begin(kOperators), std::end(kOperators),
                                [&](const Operator& candidate) { return candidate.name == name; });
  if (op == std::end(kOperators)) return Error(absl::StrCat("\"", name, "\" is not an operator"));
  if (arguments.size() != op->arity)
    return Error(absl::StrCat(name, " takes ", op->arity, " numbers, here are ", arguments.size()));
  const Number a = arguments[0], b = op->arity > 1 ? arguments[1] : Number{};
  if (op->of_whole != nullptr && !a.is_real && !b.is_real) {
    if (name == "//" && b.whole == 0) return Error("a division by zero");
    if ((name == "lshift" || name == "rshift") && (b.whole < 0 || b.whole > 31))
      return Error(absl::StrCat("a shift by ", b.whole));
    return WholeNumber(static_cast<double>(op->of_whole(a.whole, b.whole)));
  }
  if (op->of_real == nullptr) return Error(absl::StrCat(name, " takes whole numbers"));
  const float result = op->of_real(a.AsReal(), b.AsReal());
  if (op->rounds) return WholeNumber(static_cast<double>(result));
  return Number{true, 0, result};
}

class Reader {
 public:
  Reader(absl::string_view text, absl::Span<const graph::Shape> blobs) : rest_(text), blobs_(blobs) {}

  absl::StatusOr<std::vector<int64_t>> List() {
    std::vector<int64_t> sizes;
    do {
      COBRA_ASSIGN_OR_RETURN(Number number, Item());
      if (number.is_real) {
        COBRA_ASSIGN_OR_RETURN(number, WholeNumber(static_cast<double>(std::trunc(number.real))));
      }
      sizes.push_back(number.whole);
    } while (absl::ConsumePrefix(&rest_, ","));
    if (!rest_.empty()) return Error(absl::StrCat("\"", rest_, "\" does not belong there"));
    return sizes;
  }

 private:
  // A number, a size of an input, or a call.
  absl::StatusOr<Number> Item() {
    const absl::string_view word = rest_.substr(0, rest_.find_first_of("(),"));
    rest_.remove_prefix(word.size());
    if (!absl::ConsumePrefix(&rest_, "(")) return Leaf(word);
    std::vector<Number> arguments;
    do {
      COBRA_ASSIGN_OR_RETURN(const Number argument, Item());
      arguments.push_back(argument);
    } while (absl::ConsumePrefix(&rest_, ","));
    if (!absl::ConsumePrefix(&rest_, ")")) return Error(absl::StrCat("the parenthesis of ", word, " is not closed"));
    return Apply(word, arguments);
  }

  absl::StatusOr<Number> Leaf(absl::string_view word) const {
    if (word.size() == 2 && absl::ascii_isdigit(static_cast<unsigned char>(word[0])) &&
        absl::string_view("whdcn").find(word[1]) != absl::string_view::npos)
      return SizeOfBlob(static_cast<size_t>(word[0] - '0'), word[1]);
    float value = 0;
    if (word.empty() || word.find_first_not_of("0123456789.+-eE") != absl::string_view::npos ||
        !absl::SimpleAtof(word, &value) || !std::isfinite(value))
      return Error(absl::StrCat("\"", word, "\" is not a number"));
    // 3.0 is a whole number: what stands in front of the point is as large.
    int32_t whole = 0;
    if (absl::SimpleAtoi(word.substr(0, word.find_first_of(".eE")), &whole) && static_cast<float>(whole) == value)
      return Number{false, whole};
    return Number{true, 0, value};
  }

  absl::StatusOr<Number> SizeOfBlob(size_t k, char letter) const {
    if (letter == 'n') return absl::UnimplementedError("the size of the batch (n)");
    if (k >= blobs_.size()) return Error(absl::StrCat("there is no input ", k));
    const graph::Shape& shape = blobs_[k];
    const size_t dims = shape.size();
    switch (letter) {
      case 'w': return Number{false, shape[dims - 1]};
      case 'h': return Number{false, dims > 1 ? shape[dims - 2] : 1};
      case 'd': return Number{false, dims > 3 ? shape[1] : 1};
      default: return Number{false, dims > 2 ? shape[0] : 1};
    }
  }

  absl::string_view rest_;
  const absl::Span<const graph::Shape> blobs_;
};

}  // namespace

absl::StatusOr<std::vector<int64_t>> EvaluateSizes(absl::string_view text, absl::Span<const graph::Shape> blobs) {
  if (text.size() > kMostBytes)
    return Error(absl::StrCat("it has ", text.size(), " characters, more than ncnn's ", kMostBytes));
  return Reader(text, blobs).List();
}

}  // namespace cobra::ncnn
