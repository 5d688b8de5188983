// The times of single calls, from the profile of a runtime that runs several calls as one: what a
// network's contributions are compared with in training (model/training/training_run.cc, `nodes`)
// and in calibration.
#ifndef COBRA_MODEL_PREDICT_AS_RUN_KERNEL_TIMES_H_
#define COBRA_MODEL_PREDICT_AS_RUN_KERNEL_TIMES_H_

#include <string>
#include <vector>

#include "graph/graph.h"

namespace cobra::predict {

// `profile_json`: [[name, us, [calls]], ...] of a record (docs/measurements.md). A kernel stands
// for the calls that it lists, otherwise for those that its name has ("Conv call2/Relu:0":
// export/onnx names nodes so), and for calls that no kernel has and of which all that read them
// belong to it. Its time is that of its heaviest call; the others get almost nothing. Returns
// microseconds for each call of the graph, 0 where nothing is known; empty if kernels with calls
// have less than four fifths of the time, or if the text is not a profile of the graph.
std::vector<double> TimesOfCalls(const graph::Graph& graph, const std::string& profile_json);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_AS_RUN_KERNEL_TIMES_H_
