// A network of ncnn while it is written: layers with their blobs, the text of FILE.param and the
// bytes of FILE.bin. The only place that knows the two formats.
#ifndef COBRA_EXPORT_NCNN_PARAM_WRITER_H_
#define COBRA_EXPORT_NCNN_PARAM_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "export/call_arguments.h"

namespace cobra::exporting::ncnn {

// The key of a list of numbers is -23300 - key in the file.
using Param = std::variant<int64_t, double, Ints>;
using Params = std::vector<std::pair<int, Param>>;

// Numbers of a layer in FILE.bin, as float32. With `has_flag`, four bytes in front say how they are
// stored.
struct Array {
  std::string bytes;
  bool has_flag = false;
};
using Arrays = std::vector<Array>;

class ParamWriter {
 public:
  // Adds a layer; the names of its outputs, whose sizes (the outermost first, at most four) are
  // `dims`.
  Names Add(absl::string_view type, const std::string& name, const Names& inputs, const std::vector<Ints>& dims,
            Params params, Arrays arrays);
  // The blob in<number>.
  std::string AddInput(size_t number, const Ints& dims);
  // The blob is called out<number> in the file.
  void AddOutput(size_t number, const std::string& blob);
  // REQUIRES: a blob that was added.
  const Ints& DimsOf(const std::string& blob) const { return dims_.at(blob); }

  // Adds a Split behind every blob with several readers, which ncnn needs. Call once, after the
  // last layer.
  void Finish();
  std::string Text() const;
  std::string Bytes() const;

 private:
  struct Layer {
    std::string type, name;
    Names inputs, outputs;
    Params params;
    Arrays arrays;
  };
  void DropUnread();

  std::vector<Layer> layers_;
  std::map<std::string, Ints> dims_;
  std::map<std::string, int> names_;  // how many layers have each
};

// The sizes of a layer that makes a blob (Input, MemoryData), by its keys.
Params SizesOf(const Ints& dims);

}  // namespace cobra::exporting::ncnn

#endif  // COBRA_EXPORT_NCNN_PARAM_WRITER_H_
