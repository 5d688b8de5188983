#include "proto/joined_reply.h"

#include <utility>

namespace cobra::proto {

void JoinedReply::Add(v1::PredictResponse part) {
  read_us_ += part.read_us();
  predict_us_ += part.predict_us();
  bool has_first = false;
  for (v1::TargetPrediction& prediction : *part.mutable_predictions()) {
    has_first = has_first || prediction.target() == targets_[0];
    std::string target = prediction.target();
    predictions_.emplace(std::move(target), std::move(prediction));
  }
  part.clear_predictions();
  if (has_first) whole_ = std::move(part);
}

v1::PredictResponse JoinedReply::Take() && {
  for (const std::string& target : targets_) {
    const auto found = predictions_.find(target);
    if (found == predictions_.end()) continue;  // named twice
    *whole_.add_predictions() = std::move(found->second);
    predictions_.erase(found);
  }
  whole_.set_read_us(read_us_);
  whole_.set_predict_us(predict_us_);
  return std::move(whole_);
}

}  // namespace cobra::proto
