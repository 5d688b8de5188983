#include "model/text/tokenizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cobra::text {
namespace {

constexpr int kMaxListNumbers = 8;

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsWord(char c) { return absl::ascii_isalnum(c) || c == '_'; }
bool IsNumberStart(absl::string_view s, size_t i) {
  return absl::ascii_isdigit(s[i]) ||
         ((s[i] == '-' || s[i] == '.') && i + 1 < s.size() && (absl::ascii_isdigit(s[i + 1]) || s[i + 1] == '.'));
}

// One pass over the text. `field_` is the argument at the cursor, `position_` the count of its
// numbers so far.
class Splitter {
 public:
  explicit Splitter(absl::string_view text) : text_(text) {}

  std::vector<RawToken> Run() {
    while (i_ < text_.size() && static_cast<int>(tokens_.size()) < kMaxTokens) Step();
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char c = text_[i_];
    if (c == '-' && i_ + 1 < text_.size() && text_[i_ + 1] == '>') {
      StartField("out");
      i_ += 2;
    } else if (c == '\'' || c == '"') {
      Quoted(c);
    } else if (IsNumberStart(text_, i_)) {
      Number();
    } else if (IsWordStart(c)) {
      Word();
    } else {
      ++i_;  // separators carry no information beyond the field and the position
    }
  }

  void StartField(absl::string_view name) {
    field_ = std::string(name);
    position_ = 0;
  }

  void Quoted(char quote) {
    const size_t end = std::min(text_.find(quote, i_ + 1), text_.size());
    Emit(absl::StrCat(field_, "='", text_.substr(i_ + 1, end - i_ - 1), "'"));
    i_ = end + 1;
  }

  void Number() {
    size_t end = i_ + 1;
    while (end < text_.size() &&
           (absl::ascii_isdigit(text_[end]) || text_[end] == '.' || text_[end] == 'e' || text_[end] == 'E' ||
            ((text_[end] == '-' || text_[end] == '+') && (text_[end - 1] == 'e' || text_[end - 1] == 'E')))) {
      ++end;
    }
    double value = 0;
    if (!absl::SimpleAtod(text_.substr(i_, end - i_), &value)) value = 0;
    if (position_ < kMaxListNumbers) tokens_.push_back({absl::StrCat(field_, "#", position_), true, value});
    ++position_;
    // "1x3x224": the x belongs to the shape, not to a word.
    i_ = end < text_.size() && text_[end] == 'x' ? end + 1 : end;
  }

  void Word() {
    size_t end = i_;
    while (end < text_.size() && IsWord(text_[end])) ++end;
    const absl::string_view word = text_.substr(i_, end - i_);
    const char next = end < text_.size() ? text_[end] : '\0';
    const char before = i_ > 0 ? text_[i_ - 1] : '\0';
    i_ = end;
    if (next == '(' && tokens_.empty()) {
      Emit(std::string(word));
    } else if (next == '=') {
      StartField(word);
    } else if (before == ':') {
      if (word != "float32") Emit(absl::StrCat(field_, ":", word));
    } else {
      Emit(absl::StrCat(field_, "=", word));  // None, True, False, scalar, inf
    }
  }

  void Emit(std::string word) { tokens_.push_back({std::move(word), false, 0}); }

  absl::string_view text_;
  size_t i_ = 0;
  std::string field_;
  int position_ = 0;
  std::vector<RawToken> tokens_;
};

}  // namespace

std::vector<RawToken> SplitText(absl::string_view text) { return Splitter(text).Run(); }

std::array<float, kNumValueFeatures> ValueFeatures(double value) {
  std::array<float, kNumValueFeatures> f{};
  const double magnitude = std::fabs(value);
  const double log2 = std::log2(1 + magnitude);  // 0 .. 40 for the numbers of layer calls
  int k = 0;
  f[k++] = static_cast<float>(log2 / 10);
  f[k++] = static_cast<float>(log2 * log2 / 400);
  for (double period : {32.0, 16.0, 8.0, 4.0, 2.0, 1.0}) {
    f[k++] = static_cast<float>(std::sin(2 * M_PI * log2 / period));
    f[k++] = static_cast<float>(std::cos(2 * M_PI * log2 / period));
  }
  f[k++] = value == 0;
  f[k++] = value == 1;
  f[k++] = value < 0;
  const bool integer = magnitude >= 1 && magnitude < 9e15 && std::floor(magnitude) == magnitude;
  const int64_t n = integer ? static_cast<int64_t>(magnitude) : 0;
  for (int64_t divisor : {2, 4, 8, 16, 32}) f[k++] = integer && n % divisor == 0;
  // Distance to the next multiple of 16 (the padding of vector kernels), relative.
  const int64_t missing = (n + 15) / 16 * 16 - n;
  f[k++] = integer ? static_cast<float>(static_cast<double>(missing) / static_cast<double>(n + 15)) : 0.f;
  f[k++] = magnitude > 0 && magnitude < 1 ? static_cast<float>(std::log10(magnitude) / 10) : 0.f;
  static_assert(2 + 12 + 3 + 5 + 2 == kNumValueFeatures, "ValueFeatures fills every entry");
  return f;
}

Vocabulary::Vocabulary() : Vocabulary(std::vector<std::string>{"<pad>", "<unk>"}) {}

Vocabulary::Vocabulary(std::vector<std::string> words) : words_(std::move(words)) {
  for (size_t i = 0; i < words_.size(); ++i) ids_.emplace(words_[i], static_cast<int32_t>(i));
}

int32_t Vocabulary::Add(absl::string_view word) {
  auto [it, inserted] = ids_.try_emplace(std::string(word), size());
  if (inserted) words_.emplace_back(word);
  return it->second;
}

int32_t Vocabulary::Find(absl::string_view word) const {
  auto it = ids_.find(word);
  return it == ids_.end() ? kUnknown : it->second;
}

std::vector<Token> Vocabulary::Encode(const std::vector<RawToken>& tokens) const {
  constexpr double kMost = std::numeric_limits<float>::max();
  std::vector<Token> encoded;
  encoded.reserve(tokens.size());
  for (const RawToken& token : tokens) {
    // What a float cannot hold (torch.finfo(torch.float64).min) would be infinite.
    encoded.push_back({Find(token.word), token.numeric, static_cast<float>(std::clamp(token.value, -kMost, kMost))});
  }
  return encoded;
}

}  // namespace cobra::text
