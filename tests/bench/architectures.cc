#include "tests/bench/architectures.h"

#include "absl/strings/str_cat.h"
#include "tests/bench/load.h"

namespace cobra::bench {

std::string Nasbench201Cell(size_t number) {
  static constexpr const char* kOperations[] = {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
  std::string text;
  for (int to = 1; to < 4; ++to) {
    absl::StrAppend(&text, to > 1 ? "+|" : "|");
    for (int from = 0; from < to; ++from, number /= 5) absl::StrAppend(&text, kOperations[number % 5], "~", from, "|");
  }
  return text;
}

std::vector<v1::PredictRequest> Nasbench201Requests(size_t count, const std::string& target) {
  std::vector<v1::PredictRequest> requests(count);
  for (size_t i = 0; i < count; ++i) {
    const std::string cell = Nasbench201Cell(i * kNasbench201Cells / count);
    requests[i].mutable_architecture()->set_text(absl::StrCat("nasbench201:", cell));
    requests[i].add_targets(target);
  }
  return requests;
}

void AskForLatenciesOnly(v1::PredictRequest* request) {
  for (const v1::NetworkPart part :
       {v1::NETWORK_PART_FINGERPRINT, v1::NETWORK_PART_COUNTS, v1::NETWORK_PART_PEAK_MEMORY})
    request->add_omit(part);
}

std::vector<grpc::ByteBuffer> StreamMessages(const std::vector<v1::PredictRequest>& requests) {
  std::vector<grpc::ByteBuffer> messages;
  for (size_t i = 0; i < requests.size(); ++i) {
    v1::PredictStreamRequest message;
    message.set_request_id(i);
    *message.mutable_request() = requests[i];
    messages.push_back(ToByteBuffer(message.SerializeAsString()));
  }
  return messages;
}

}  // namespace cobra::bench
