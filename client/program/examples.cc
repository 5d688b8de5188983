#include "client/program/examples.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace cobra::client {
namespace {

// The words after "cobra-client", those of one command beside each other.
constexpr absl::string_view kExamples[] = {
    "predict net.py --input 1x3x224x224",
    "predict net.py --entry 'Net(width=64)' --input 1x3x224x224 --target this-machine --budget-ms 20",
    "predict model.onnx --target cpu-epyc-turin-1t,gpu-t4-torch-2.1 --format json",
    "predict --list models.csv --target this-machine --out times.csv",
    "report net.py --input 1x3x224x224 --target this-machine --out net.html",
    "report model.onnx --target cpu-epyc-turin-1t,cpu-raspberry-pi-5-4t-ncnn --no-sweep --out model.html",
    "sweep net.py --input Bx3x224x224 --target this-machine --batch 1..64",
    "sweep net.py --input Bx3x224x224 --target this-machine --format svg --out batches.svg",
    "compare before.json after.json",
    "compare before.json after.json --max-increase 3% --format markdown",
    "diff net.py --input 1x3x224x224",
    "diff origin/main... net.py --input 1x3x224x224 --target this-machine --max-increase 3%",
    "diff old.onnx new.onnx --target this-machine",
    "check",
    "check --against origin/main... --report sarif=latency.sarif",
    "check models.toml --only backbone --format markdown",
    "explain net.py --input 1x3x224x224",
    "explain net.py --input 1x3x224x224 --target this-machine --by line",
    "explain net.py --input 1x3x224x224 --target cpu-epyc-turin-1t,cpu-raspberry-pi-5-4t-ncnn",
    "history --since 30d",
    "history --label branch=main --target this-machine --format svg --out history.svg",
    "graph net.py --input 1x3x224x224",
    "graph net.py --input 1x3x224x224 --format onnx --out net.onnx",
    "targets --device EPYC",
    "targets --kind gpu --format names",
    "calibrate",
    "calibrate --threads 4 --name this-machine-4t --budget 5m",
    "calibrate --name this-machine-4t --undo",
    "adapt --name pi-4 --spec pi-4.json --samples timed.csv",
    R"(adapt --name l4 --spec '{"device": "L4", "kind": "gpu", "runtime": "torch-2.9", "precision": "bfloat16"}')",
    "adapt --spec pi-4.json --suggest 5 --list models.csv",
    "adapt --name pi-4 --export pi-4.json.gz",
    "observe net.py --input 1x3x224x224 --target pi-4 --latency-ms 12.5",
    "observe --samples log.csv --target pi-4 --skip-refused",
    "model",
    "model --server 10.0.0.7:50051 --tls-ca ca.pem --token-file token --format json",
    "doctor",
    "doctor --server 10.0.0.7:50051 --tls-ca ca.pem",
    "admin versions",
    "admin flush --cache prediction,network",
    "admin reload --server 10.0.0.7:50051 --tls-ca ca.pem --token-file admin-token",
};

}  // namespace

std::string ExamplesOf(absl::string_view command) {
  std::string text = "Examples:";
  for (const absl::string_view example : kExamples) {
    const std::pair<absl::string_view, absl::string_view> words = absl::StrSplit(example, absl::MaxSplits(' ', 1));
    if (words.first == command) absl::StrAppend(&text, "\n  $ cobra-client ", example);
  }
  return text;
}

}  // namespace cobra::client
