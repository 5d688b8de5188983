#include "cobra/v1/cobra.pb.h"
#include "cobra/v1/measurements.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "proto/model_source_proto.h"
#include "proto/parsed_size.h"
#include "proto/status_proto.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {
namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;

// As the server does it: the size first.
template <typename Message>
bool Parse(absl::string_view bytes, Message* message) {
  const proto::ParsedSize size = proto::ParsedSizeOf(bytes, *Message::descriptor(), kMostBytes);
  const bool parsed = size.well_formed && size.bytes <= kMostBytes &&
                      message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (parsed && static_cast<int64_t>(message->SpaceUsedLong()) > 4 * size.bytes + 4096)
    Fail("a message takes more than was computed", message->GetTypeName());
  return parsed;
}

void Predict(absl::string_view bytes) {
  v1::PredictRequest request;
  if (!Parse(bytes, &request) || request.model_case() == v1::PredictRequest::MODEL_NOT_SET) return;
  if (const auto source = proto::TakeModelSource(&request, SmallLimits()); !source.ok()) CheckRefusal(source.status());
}

template <typename Message>
void ParseOnly(absl::string_view bytes) {
  Message message;
  (void)Parse(bytes, &message);
}

}  // namespace

void Message(absl::string_view data) {
  static const bool quiet = (google::protobuf::SetLogHandler(nullptr), true);
  (void)quiet;
  if (data.empty()) return;
  const absl::string_view bytes = data.substr(1);
  switch (data[0]) {
    case 'p': return Predict(bytes);
    case 'c': return ParseOnly<v1::CalibrateRequest>(bytes);
    case 'e': return ParseOnly<v1::EnqueueRequest>(bytes);
    case 'l': return ParseOnly<v1::LeaseRequest>(bytes);
    case 'n': return ParseOnly<v1::RenewRequest>(bytes);
    case 'r': return ParseOnly<v1::ReportRequest>(bytes);
    case 'x': return ParseOnly<v1::CancelRequest>(bytes);
    case 'w': return ParseOnly<v1::WatchRequest>(bytes);
    default: return;
  }
}

}  // namespace cobra::fuzz
