// The commands `export` and `import`: records of measurements from and to other forms.
#ifndef COBRA_WORKER_QUEUE_EXCHANGE_COMMAND_H_
#define COBRA_WORKER_QUEUE_EXCHANGE_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace cobra::worker {

struct ExchangeFlags {
  std::vector<std::string> files;
  std::string format = "csv", out;
  bool skip_invalid = false;
};

absl::Status RunExport(const ExchangeFlags& flags);
absl::Status RunImport(const ExchangeFlags& flags);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_QUEUE_EXCHANGE_COMMAND_H_
