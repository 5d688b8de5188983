#include "frontend/ncnn/reader.h"

#include "base/status_macros.h"
#include "frontend/ncnn/importer.h"
#include "frontend/ncnn/param_file.h"

namespace cobra::ncnn {

absl::StatusOr<NcnnModel> ReadNcnnModelWithWeights(absl::string_view text, const NcnnRequest& request,
                                                   const Limits& limits) {
  COBRA_ASSIGN_OR_RETURN(const ParamFile file, ParseParamFile(text, request.name, limits.ncnn));
  return Importer(file, request, limits).Import();
}

absl::StatusOr<graph::Graph> ReadNcnnModel(absl::string_view text, const NcnnRequest& request, const Limits& limits) {
  absl::StatusOr<NcnnModel> model = ReadNcnnModelWithWeights(text, request, limits);
  if (!model.ok()) return model.status();
  return std::move(model->graph);
}

std::vector<NcnnLayerType> NcnnLayerTypes() {
  return {
#define COBRA_NCNN(name, handler, keys, calls, note) {#name, calls, note},
#define COBRA_NCNN_REFUSED(name, why) {#name, "", why},
#include "frontend/ncnn/layers.def"
  };
}

}  // namespace cobra::ncnn
