// Random networks of search spaces, none twice: what a search asks for.
#ifndef COBRA_TESTS_BENCH_CANDIDATES_H_
#define COBRA_TESTS_BENCH_CANDIDATES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/bytes/hash.h"
#include "cobra/v1/cobra.pb.h"
#include "worker/sample/random.h"

namespace cobra::bench {

// nasbench101, fbnet, ofa, darts: architecture strings; resnets: graphs of residual networks of
// random widths, depths and sizes of images.
std::vector<std::string> CandidateSpaces();

class Candidates {
 public:
  // REQUIRES: `space` is one of CandidateSpaces().
  explicit Candidates(std::string space, uint64_t seed = 1);
  // The next network. It has no target yet.
  v1::PredictRequest Next();

 private:
  std::string Draw(v1::PredictRequest* request);

  const std::string space_;
  worker::Random random_;
  absl::flat_hash_set<Hash128> drawn_;
};

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_CANDIDATES_H_
