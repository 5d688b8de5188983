// Sizes and training of published methods, one JSON file each in lab/published/configs, so that the
// same code can run them in full and at a size for one processor.
#ifndef COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_CONFIG_H_
#define COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::lab {

// COBRA's encoder: appendix A.1.1, table 3.
struct PublishedEncoderConfig {
  int64_t layers = 4, width = 512, feed_forward = 512, heads = 16, max_tokens = 600;
  int64_t latency_hidden = 256;
  double dropout = 0.5;
  // Training.
  int64_t rows = 0;  // training layers, the first by hash; 0: all
  int batch = 64;
  int epochs = 200;            // of pre-training, at most
  int fine_tune_epochs = 200;  // without the appended latency, at most; the paper has the phase and not its length
  double learning_rate = 1e-3, rate_decay = 0.9;  // a factor an epoch
  double least_rate = 1e-6;                       // the phase ends when the rate is below it
  int stall = 10;                                 // epochs without a better validation loss after which the phase ends
  double mask = 0.1, clip = 0.5;
};

// The graph networks of COBRA, BRP-NAS, BRP-NAS++: appendix A.1.2, table 5.
struct CallGcnConfig {
  int64_t layers = 4, width = 395;
  bool global_node = false;  // read out there (BRP-NAS); else the mean over the calls (COBRA)
  bool layer_norm = false;   // after each graph convolution, as BRP-NAS and Yue have it
  double dropout = 2e-4, weight_decay = 1e-6, learning_rate = 1e-3;
  int batch = 2;
  int epochs = 1500;  // at most
  int halve = 10;     // the rate halves after so many epochs without a better validation error; 0: never
  int stall = 1500;   // training ends after so many
};

// InvalidArgument, beginning with the path, if the file is not a JSON object, or has an unknown key
// or a value of another type.
absl::StatusOr<PublishedEncoderConfig> LoadEncoderConfig(absl::string_view path);
absl::StatusOr<CallGcnConfig> LoadGcnConfig(absl::string_view path);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_CONFIG_H_
