// `cobra-client adapt` and `observe`: a target for a new device, from its data sheet and networks
// timed on it.
#ifndef COBRA_CLIENT_ADAPT_ADAPT_COMMAND_H_
#define COBRA_CLIENT_ADAPT_ADAPT_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/input/model_arguments.h"
#include "client/request/common_flags.h"

namespace cobra::client {

struct AdaptFlags {
  ModelArguments of_all;  // how the models of lists are read: libraries and so on
  std::string name, spec;
  std::string samples;      // SAMPLES.csv; empty: none
  std::string import_file;  // instead of both
  std::string export_file;  // write the target instead of making it
  int suggest = 0;          // so many networks of `list` to time first, instead of making it
  std::string list;
  bool skip_refused = false;
};

struct ObserveFlags {
  ModelArguments model;    // one model with `latency_ms`, or
  std::string latency_ms;  // as it was written
  std::string samples;     // a list of timings, as many as there are
  std::string target;
  bool skip_refused = false;
};

// Each returns the exit code.
absl::StatusOr<int> RunAdapt(const CommonFlags& common, const AdaptFlags& flags);
absl::StatusOr<int> RunObserve(const CommonFlags& common, const ObserveFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_ADAPT_COMMAND_H_
