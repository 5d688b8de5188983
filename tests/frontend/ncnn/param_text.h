// Short .param files for tests: the lines of the layers, with the two lines in front of them put in
// place.
#ifndef COBRA_TESTS_FRONTEND_NCNN_PARAM_TEXT_H_
#define COBRA_TESTS_FRONTEND_NCNN_PARAM_TEXT_H_

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace cobra::ncnn {

inline std::string ParamText(const std::vector<std::string>& layers) {
  std::set<std::string> blobs;
  for (const std::string& layer : layers) {
    const std::vector<std::string> words = absl::StrSplit(layer, ' ', absl::SkipEmpty());
    const size_t count = std::stoul(words[2]) + std::stoul(words[3]);
    for (size_t i = 0; i < count && 4 + i < words.size(); ++i) blobs.insert(words[4 + i]);
  }
  return absl::StrCat("7767517\n", layers.size(), " ", blobs.size(), "\n", absl::StrJoin(layers, "\n"), "\n");
}

// "Input" lines for shapes such as "3x8x8" (channels x height x width), blobs in0 ...
inline std::vector<std::string> InputLines(const std::vector<std::string>& shapes) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<std::string> d = absl::StrSplit(shapes[i], 'x');
    const size_t n = d.size();
    std::string sizes = absl::StrCat(" 0=", d[n - 1]);
    if (n > 1) absl::StrAppend(&sizes, " 1=", d[n - 2]);
    if (n > 3) absl::StrAppend(&sizes, " 11=", d[1]);
    if (n > 2) absl::StrAppend(&sizes, " 2=", d[0]);
    lines.push_back(absl::StrCat("Input in", i, " 0 1 in", i, sizes));
  }
  return lines;
}

}  // namespace cobra::ncnn

#endif  // COBRA_TESTS_FRONTEND_NCNN_PARAM_TEXT_H_
