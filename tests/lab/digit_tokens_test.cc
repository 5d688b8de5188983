#include "lab/variants/digit_tokens.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace cobra::lab {
namespace {

TEST(DigitTokens, NumbersTakenApartKeepTheirPlaces) {
  std::string words;
  for (const text::RawToken& t : SplitDigits("relu(input=224x1e-05,dim=-1)")) {
    EXPECT_FALSE(t.numeric);
    absl::StrAppend(&words, words.empty() ? "" : " ", t.word);
  }
  EXPECT_EQ(words,
            "relu input#0@2=2 input#0@1=2 input#0@0=4 input#1@4=1 input#1@3=e input#1@2=- input#1@1=0 input#1@0=5 "
            "dim#0@1=- dim#0@0=1");
}

}  // namespace
}  // namespace cobra::lab
