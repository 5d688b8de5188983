#include "proto/protobuf_log.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "google/protobuf/stubs/logging.h"

namespace cobra::proto {

void LogOnlyFatal() {
  google::protobuf::SetLogHandler(
      [](google::protobuf::LogLevel level, const char* file, int line, const std::string& message) {
        if (level == google::protobuf::LOGLEVEL_FATAL) LogError(absl::StrCat(file, ":", line, ": ", message));
      });
}

}  // namespace cobra::proto
