#include "model/fit/remembered_vectors.h"

#include <cstddef>

#include "model/net/cobra_net.h"

namespace cobra::fit {
namespace {

at::Tensor Rows(const at::Tensor& of, const std::vector<int64_t>& rows) {
  return of.index_select(0, at::tensor(rows, at::kLong));
}

}  // namespace

RememberedVectors::RememberedVectors(int32_t texts, int64_t width)
    : vectors_(at::zeros({texts, width})), known_(static_cast<size_t>(texts)) {}

at::Tensor RememberedVectors::Encode(net::Encoder& encoder, const Batch& batch, double share, std::mt19937_64* random) {
  std::bernoulli_distribution is_encoded(share);
  std::vector<const std::vector<text::Token>*> encoded_texts;
  std::vector<int64_t> encoded, remembered;  // texts of the batch
  for (size_t i = 0; i < batch.texts.size(); ++i) {
    const int32_t number = batch.text_numbers[i];
    const bool is_remembered = number >= 0 && known_[static_cast<size_t>(number)] && !is_encoded(*random);
    (is_remembered ? remembered : encoded).push_back(static_cast<int64_t>(i));
    if (!is_remembered) encoded_texts.push_back(batch.texts[i]);
  }
  std::vector<at::Tensor> parts;
  if (!encoded.empty()) parts.push_back(net::EncodeTexts(encoder, encoded_texts));
  std::vector<int64_t> numbers;
  for (const int64_t i : remembered) numbers.push_back(batch.text_numbers[static_cast<size_t>(i)]);
  if (!remembered.empty()) parts.push_back(Rows(vectors_, numbers));

  std::vector<int64_t> place(batch.texts.size()), kept;  // in `parts`; rows of the first part that have a number
  numbers.clear();
  for (size_t row = 0; row < encoded.size(); ++row) {
    place[static_cast<size_t>(encoded[row])] = static_cast<int64_t>(row);
    const int32_t number = batch.text_numbers[static_cast<size_t>(encoded[row])];
    if (number < 0) continue;
    kept.push_back(static_cast<int64_t>(row));
    numbers.push_back(number);
    known_[static_cast<size_t>(number)] = true;
  }
  for (size_t row = 0; row < remembered.size(); ++row)
    place[static_cast<size_t>(remembered[row])] = static_cast<int64_t>(encoded.size() + row);
  if (!kept.empty()) {
    at::NoGradGuard no_grad;
    vectors_.index_copy_(0, at::tensor(numbers, at::kLong), Rows(parts[0].detach(), kept));
  }
  return Rows(at::cat(parts), place);
}

}  // namespace cobra::fit
