// Limits of reading one model: those of every front end, and those of a graph from the API. A read
// that exceeds a limit fails with a diagnostic of kind kLimit. If PyTorch or the format has the
// same bound, the diagnostic has that error's kind. docs/reader.md lists the limits in a table.
// Each is tested at the limit and one past it.
//
// The defaults are for untrusted input. An input that reaches a limit costs at most a quarter of a
// second and a quarter of a gigabyte on the machines where this was measured (tests/hostile;
// scripts/test-long.sh hostile lists the cost of each). The largest models that were measured stay
// below a third of each limit. For a trusted model that needs more, use cobra-client
// --limits-times.
#ifndef COBRA_BASE_LIMITS_H_
#define COBRA_BASE_LIMITS_H_

#include <atomic>
#include <cstdint>

namespace cobra {

// Limits of a graph, from any input.
struct GraphLimits {
  int64_t max_nodes = 60'000;  // calls; the largest published networks have some 10,000, 1,000 unrolled layers 20,000
  // Results of all calls: unbind makes as many as a dimension has elements, from some thirty bytes
  // in a request.
  int64_t max_results = 300'000;
  // Dimensions of the arguments and results of all calls together, and one more for each of these
  // tensors: memory and time are proportional to them in every step after reading. A result of
  // unbind or meshgrid has up to 64 of them and takes not a single byte of a program. 60,000
  // convolutions have 0.9 million, 1,000 unrolled layers 0.3 million.
  int64_t max_dimensions = 2'000'000;
  int max_rank = 64;                            // PyTorch's limit in most of its kernels
  int64_t max_tensor_bytes = int64_t{1} << 40;  // a shape beyond 1 TiB is a mistake or an attack
  int64_t max_json_values = 2'000'000;          // in its JSON form: 60,000 calls have about 1.5 million
};

// Limits of an ONNX file (frontend/onnx).
struct OnnxLimits {
  // Nodes that are executed and calls that they become, iterations of unrolled loops included. The
  // largest published files have some 10,000 nodes.
  int64_t max_steps = 100'000;
  // Tensors up to this many elements carry values while shapes are computed.
  int64_t max_const_elements = int64_t{1} << 16;
  int64_t max_const_bytes = int64_t{64} << 20;  // of all values carried together
  int max_nesting = 32;                         // graphs inside If, Loop and Scan
  // Size of the parsed file without its weights: enough for 100,000 nodes with five attributes
  // each. Two bytes of a file may take 200 in memory.
  int64_t max_parsed_bytes = int64_t{160} << 20;
};

// Limits of a TensorFlow Lite file (frontend/tflite).
struct TfliteLimits {
  int64_t max_operators = 100'000;  // the largest published files have some 3,000
  int64_t max_tensors = 1'000'000;
  int64_t max_uses = 1'000'000;                   // uses of tensors by operators: lists in a flatbuffer may be shared
  int max_rank = 8;                               // TFLite's own kernels stop at 6, views at 8
  int64_t max_const_elements = int64_t{1} << 16;  // of a constant whose values shape the network
  int64_t max_const_bytes = int64_t{64} << 20;    // of all values carried together
  // Of the flatbuffer. A table is a tensor, an operator, its options, a buffer; depth is 5 in this
  // format.
  uint32_t max_tables = 1'000'000;
  uint32_t max_depth = 32;
};

// Limits of an ncnn .param file (frontend/ncnn).
struct NcnnLimits {
  int64_t max_layers = 60'000;  // the largest published files have some 3,000; each is a call or two of the graph
  int64_t max_blobs = 200'000;
  int64_t max_line_bytes = int64_t{1} << 20;  // a Concat of thousands of blobs
  int64_t max_name_bytes = 4096;              // of a layer, a blob or a type, as Limits::name_bytes
  int64_t max_values = 1'000'000;             // of all lists of numbers together: sizes, axes, anchors
};

struct Limits {
  // ---- any input
  // Wall time of one read; 0: unlimited. A server sets its own deadline here.
  int64_t wall_time_ms = 60'000;
  // Set from another thread to stop the read; not owned.
  const std::atomic<bool>* cancelled = nullptr;
  GraphLimits graph;
  OnnxLimits onnx;
  TfliteLimits tflite;
  NcnnLimits ncnn;
  int64_t architecture_bytes = 64 << 10;  // architecture string: the longest of any space has 2 KB
  // Of the entry, the method, one input or one argument, as written. An entry that contains a whole
  // configuration has some 2 KB.
  int64_t expression_bytes = 64 << 10;
  int64_t inputs = 4096;  // inputs and arguments; each tensor of a list counts
  // Of a file's path, and of the whole name of a module, parameter or buffer
  // ("layer1.0.conv1.weight"), which every call of the graph repeats: the longest of large model
  // libraries have some 150.
  int64_t name_bytes = 4096;

  // ---- files, before they are read
  int64_t model_file_bytes = int64_t{2} << 30;  // ONNX, TensorFlow Lite: the formats' own
  int64_t file_bytes = int64_t{16} << 20;       // of Python, a graph or an ncnn .param file
  // A folder's Python files: with the rest of a request below the server's 32 MiB.
  int64_t bundle_bytes = int64_t{24} << 20;
  // torchvision has 170, the largest model libraries about 2,000.
  int bundle_files = 4096;

  // ---- Python source: what is parsed
  // Of one file: the largest of the standard library is 0.6 MB; its tree takes 25 times that.
  int64_t source_bytes = int64_t{3} << 20;
  // Real code has one node per 8 bytes; this is more than one per byte of the largest source.
  int64_t syntax_nodes = int64_t{4} << 20;
  // Different names of one file, each of which the scopes look up: dummy modules of the largest
  // libraries have some 3,000.
  int64_t syntax_names = int64_t{1} << 16;
  // Height of an expression tree (a chain a.b.c or x + x + x counts each link) and, separately,
  // nesting of statements. CPython's compiler stops at about 3,000. At 1,000 a recursive walk with
  // 1 KB a level takes 1 MB of an 8 MB stack.
  int32_t syntax_depth = 1000;
  int modules = 4000;  // torchvision loads about 150

  // ---- Python source: what is run One step is a statement, a call, an iteration of a loop, or 16
  // parts of an expression. Work on long strings and sequences costs steps in proportion to their
  // length (Interpreter::Charge); memory costs one step per 64 bytes. Of torchvision, swin_v2_b
  // needs most: 1.1 million.
  int64_t steps = 3'000'000;
  // Steps of top-level code of modules below the library roots, which are counted separately:
  // importing a library is not the model's cost, and happens once. Importing timm takes 5 million,
  // a model's modules of transformers 3 to 8.
  int64_t library_steps = 12'000'000;
  // Bytes of Python objects and of compiled code. Nothing is freed before the interpreter is
  // destroyed. Of torchvision, swin_v2_b needs most: 39 MB.
  int64_t memory_bytes = int64_t{160} << 20;
  // Address space of the heap beyond memory_bytes, which is checked between statements only; 0:
  // three times memory_bytes and 64 MiB. A process with a single request can do with less: it exits
  // when that is used up.
  int64_t memory_spare_bytes = 0;
  // Python's own default: deeper programs raise RecursionError there too.
  int call_depth = 1000;
  // Native stack of the main program; call_depth frames of ordinary nesting need about a quarter of
  // it.
  int64_t stack_bytes = int64_t{24} << 20;
  // Stack of one generator, and how many may be suspended at once. Their product bounds the address
  // space; few of its pages are touched.
  int64_t generator_stack_bytes = 256 << 10;
  int suspended_generators = 2000;
  int64_t big_int_bits = 1 << 17;             // multiplication is quadratic: 2^17 bits cost 2 ms
  int64_t sequence_items = int64_t{1} << 22;  // of one str, list or tuple that an operator or built-in creates
  int64_t output_bytes = int64_t{1} << 20;    // captured output of print()
};

}  // namespace cobra

#endif  // COBRA_BASE_LIMITS_H_
