// What a fuzzer does with its bytes. Each returns normally or aborts; a refusal is fine, but it
// must be a Diagnostic.
#ifndef COBRA_TESTS_FUZZ_ENTRY_POINTS_H_
#define COBRA_TESTS_FUZZ_ENTRY_POINTS_H_

#include "absl/strings/string_view.h"

namespace cobra::fuzz {

// A Python file whose `Net()` is read with an input of 1x3x8x8.
void Source(absl::string_view data);
// JSON if it begins with a brace, else a serialized cobra.v1.Graph.
void GraphMessage(absl::string_view data);
void Onnx(absl::string_view data);
// A TensorFlow Lite file, with the sizes that it has and again with a larger batch.
void Tflite(absl::string_view data);
// An ncnn .param file, with the sizes that it has and again with others.
void Ncnn(absl::string_view data);
// What --arch takes; lines at its end that begin with "--input " are the network's inputs.
void Architecture(absl::string_view data);
// Files that workers and trainers write: the first byte says which. 'r' a measurement, 's' a task's
// subject, 'p' a probe, 'c' a calibration, 'm' a manifest, 't' a target, 'd' a table of devices,
// 'w' weights.
void File(absl::string_view data);
// A request of the API before it is handled: the first byte says which. 'p' Predict, 'b'
// PredictBatch, 's' PredictStream, 't' ListTargets, 'i' GetModelInfo, 'c' Calibrate, 'u'
// UndoCalibration, 'e' Enqueue, 'l' Lease, 'n' Renew, 'r' Report, 'x' Cancel, 'w' Watch. Parts that
// are found in the bytes are those that protobuf finds.
void Message(absl::string_view data);
// A request of HTTP: the first byte says which. JSON of 'p' Predict, 'b' PredictBatch, 'a' Adapt,
// 'l' Lease, 'r' Report, 'e' Enqueue; 'q' a query of ListTargets, 'f' a form after the line of its
// Content-Type, 'o' headers that a browser sends, 'u' a path.
void Http(absl::string_view data);

}  // namespace cobra::fuzz

#endif  // COBRA_TESTS_FUZZ_ENTRY_POINTS_H_
