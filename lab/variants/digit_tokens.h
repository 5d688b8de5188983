// Numbers as words of digits, as in COBRA's WordPiece tokenizer, instead of number tokens with
// values (model/text/tokenizer.h).
#ifndef COBRA_LAB_VARIANTS_DIGIT_TOKENS_H_
#define COBRA_LAB_VARIANTS_DIGIT_TOKENS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "model/text/tokenizer.h"

namespace cobra::lab {

// text::SplitText with its numbers split into digits: 224 at input#2 becomes the words input#2@2=2
// input#2@1=2 input#2@0=4, each a digit and its place (COBRA has the place in a positional
// encoding).
std::vector<text::RawToken> SplitDigits(absl::string_view text);

}  // namespace cobra::lab

#endif  // COBRA_LAB_VARIANTS_DIGIT_TOKENS_H_
