// Which source lines of a changed network take more time than before.
#ifndef COBRA_CLIENT_COMPARE_LINE_CHANGES_H_
#define COBRA_CLIENT_COMPARE_LINE_CHANGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "client/compare/compare.h"

namespace cobra::client {

struct LineChange {
  std::string place;   // of the new network: "net.py:7", as in its breakdown
  std::string module;  // of the call there that changed most
  SavedModule before, after;
  double change_us() const { return after.latency_us - before.latency_us; }
};

// Largest increase first; lines that did not change are left out. Calls of the two networks are
// matched, not line numbers, which move: first those of one module and operator, then what is left
// by operator, in their order. A call without a counterpart is new; what only the old network had
// is on no line.
std::vector<LineChange> LineChanges(const SavedTarget& before, const SavedTarget& after);

// "net.py:7" -> net.py, 7. Line 0 where the place has none ("net.onnx node 7").
struct SourceLine {
  std::string file;
  int line = 0;
};
SourceLine SplitPlace(absl::string_view place);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_LINE_CHANGES_H_
