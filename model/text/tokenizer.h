// Canonical text -> tokens. Numbers stay numbers (COBRA, section 5, names split digits as the
// weakness of its tokenizer): a number becomes one token whose id tells *where* it stands
// ("input#2": third dimension of `input`), with its value beside it.
//   conv2d(input=1x3x224x224:float32,bias=None,...)
//   conv2d  input#0:1  input#1:3  input#2:224  input#3:224  bias=None  ...
// float32 is not written out; another dtype is a token ("input:int64").
#ifndef COBRA_MODEL_TEXT_TOKENIZER_H_
#define COBRA_MODEL_TEXT_TOKENIZER_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cobra::text {

struct RawToken {
  std::string word;  // vocabulary entry
  bool numeric = false;
  double value = 0;
};

// At most kMaxTokens tokens; what lies beyond is dropped, and lists beyond 8 numbers keep their
// first 8.
inline constexpr int kMaxTokens = 128;
std::vector<RawToken> SplitText(absl::string_view text);

struct Token {
  int32_t id = 0;
  bool numeric = false;
  float value = 0;
};

// Log-scaled and divisibility features of a number, all within about [-2, 2]. Divisibility by the
// vector width decides which kernels run.
inline constexpr int kNumValueFeatures = 24;
std::array<float, kNumValueFeatures> ValueFeatures(double value);

class Vocabulary {
 public:
  static constexpr int32_t kPad = 0;
  static constexpr int32_t kUnknown = 1;

  Vocabulary();                                         // only <pad> and <unk>
  explicit Vocabulary(std::vector<std::string> words);  // words[0], [1] are <pad>, <unk>

  int32_t Add(absl::string_view word);         // while building; returns the id
  int32_t Find(absl::string_view word) const;  // kUnknown if absent
  int32_t size() const { return static_cast<int32_t>(words_.size()); }
  const std::vector<std::string>& words() const { return words_; }

  std::vector<Token> Encode(const std::vector<RawToken>& tokens) const;

 private:
  std::vector<std::string> words_;
  absl::flat_hash_map<std::string, int32_t> ids_;
};

}  // namespace cobra::text

#endif  // COBRA_MODEL_TEXT_TOKENIZER_H_
