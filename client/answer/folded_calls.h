// Calls that cost next to nothing, for one line in the place of rows of zeros.
#ifndef COBRA_CLIENT_ANSWER_FOLDED_CALLS_H_
#define COBRA_CLIENT_ANSWER_FOLDED_CALLS_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace cobra::client {

class FoldedCalls {
 public:
  // `us`: the call's time; 0 if none is predicted.
  void Add(absl::string_view op, double us);
  bool empty() const { return by_op_.empty(); }
  // "and 57 calls that take next to no time, 0.004 ms together: 40 view, 17 flatten"; without
  // predicted times `cost_nothing` says what they do not do: "and 57 calls without arithmetic or
  // memory traffic: ...".
  std::string Text(absl::string_view cost_nothing = "that take next to no time") const;

 private:
  std::map<std::string, int> by_op_;
  int calls_ = 0;
  double us_ = 0;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ANSWER_FOLDED_CALLS_H_
