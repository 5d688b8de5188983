// The ONNX operators that the reader knows, one handler each; every ops_*.cc adds a family. Each
// domain has a registry.
#ifndef COBRA_FRONTEND_ONNX_IMPORTER_REGISTRY_H_
#define COBRA_FRONTEND_ONNX_IMPORTER_REGISTRY_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/onnx/importer/node_context.h"

namespace cobra::onnx {

using Handler = absl::StatusOr<Outputs> (*)(NodeContext& c);

struct Entry {
  Handler handler = nullptr;  // null: refused, and the note says why
  int required = 1;           // number of required inputs: tensors, unless `sequences`
  bool sequences = false;     // inputs may be sequences or absent
  const char* note = "";      // what is not supported, for the docs
};

class Registry {
 public:
  void Add(absl::string_view op_type, Entry entry) { entries_.emplace(std::string(op_type), entry); }
  const Entry* Find(const std::string& op_type) const {
    const auto it = entries_.find(op_type);
    return it == entries_.end() ? nullptr : &it->second;
  }
  void Refuse(absl::string_view op_type, const char* why) { Add(op_type, {nullptr, 0, true, why}); }
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry> entries_;
};

// The default domain, and the one in which ONNX Runtime's optimiser writes.
constexpr absl::string_view kMicrosoftDomain = "com.microsoft";
inline bool IsDefaultDomain(absl::string_view domain) { return domain.empty() || domain == "ai.onnx"; }
// Null for other domains.
const Registry* OperatorsOf(absl::string_view domain);

void AddActivationOperators(Registry* registry);
void AddAttentionOperators(Registry* registry);
void AddControlOperators(Registry* registry);
void AddConvolutionOperators(Registry* registry);
void AddElementwiseOperators(Registry* registry);
void AddIndexOperators(Registry* registry);
void AddLossOperators(Registry* registry);
void AddNormOperators(Registry* registry);
void AddPoolOperators(Registry* registry);
void AddProductOperators(Registry* registry);
void AddQuantizedOperators(Registry* registry);
void AddRecurrentOperators(Registry* registry);
void AddReduceOperators(Registry* registry);
void AddResizeOperators(Registry* registry);
void AddShapeOperators(Registry* registry);
void AddSignalOperators(Registry* registry);

// Of the domain com.microsoft.
void AddMicrosoftAttentionOperators(Registry* registry);
void AddMicrosoftFusedOperators(Registry* registry);
void AddMicrosoftQuantizedOperators(Registry* registry);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_IMPORTER_REGISTRY_H_
