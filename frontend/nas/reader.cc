#include "frontend/nas/reader.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

struct Space {
  absl::string_view name;
  absl::string_view options;  // names, separated by blanks
  absl::string_view example;  // an example of the string
  absl::StatusOr<graph::Graph> (*build)(SpaceRequest);
};

constexpr absl::string_view kCell201 =
    "|nor_conv_3x3~0|+|nor_conv_1x1~0|skip_connect~1|+|none~0|avg_pool_3x3~1|nor_conv_3x3~2|";

constexpr Space kSpaces[] = {
    {"darts", "dataset classes channels layers",
     "Genotype(normal=[('sep_conv_3x3', 0), ...], normal_concat=[2, 3, 4, 5], reduce=[...], reduce_concat=[...])",
     BuildDarts},
    {"fbnet", "dataset classes", "k3_e1 k3_e6 skip ... (22 blocks)", BuildFbnet},
    {"hat", "task src_vocab tgt_vocab src_len tgt_len qkv_dim",
     "encoder-embed-dim: 512, encoder-ffn-embed-dim: [2048, ...], ... (the keys of a SubTransformer's yml)", BuildHat},
    {"nasbench101", "classes channels stacks modules", "[[0,1,1],[0,0,1],[0,0,0]] [input, conv3x3-bn-relu, output]",
     BuildNasbench101},
    {"nasbench201", "dataset classes channels cells", kCell201, BuildNasbench201},
    {"nasbench201-pruned", "dataset classes channels cells", kCell201, BuildNasbench201Pruned},
    {"ofa", "classes", "ks:<20 numbers> e:<20 numbers> d:<5 numbers> r:<resolution>", BuildOfa},
};

absl::StatusOr<Options> ParseOptions(const Space& space, absl::string_view text) {
  const std::vector<absl::string_view> known = absl::StrSplit(space.options, ' ');
  std::map<std::string, std::string> values;
  for (absl::string_view item : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair = absl::StrSplit(item, absl::MaxSplits('=', 1));
    const absl::string_view name = absl::StripAsciiWhitespace(pair.first);
    if (!absl::StrContains(item, '=') || std::find(known.begin(), known.end(), name) == known.end()) {
      return UsageError(absl::StrCat("'", item, "' is not an option of ", space.name),
                        absl::StrCat("write option=value with one of ", absl::StrJoin(known, ", ")));
    }
    if (!values.emplace(std::string(name), std::string(absl::StripAsciiWhitespace(pair.second))).second) {
      return UsageError(absl::StrCat(name, "= is given twice"));
    }
  }
  return Options(std::move(values));
}

}  // namespace

absl::StatusOr<graph::TensorType> SpaceRequest::Image(const graph::Shape& fallback) const {
  if (inputs.empty()) return graph::TensorType{fallback};
  if (inputs.size() > 1) return UsageError("--input: this network takes one image");
  if (inputs[0].rank() != 4 || inputs[0].dtype != graph::DType::float32) {
    return UsageError(absl::StrCat("--input ", graph::TypeText(inputs[0]), ": a batch of images expected, such as ",
                                   graph::ShapeText(fallback)));
  }
  return inputs[0];
}

graph::NetBuilderOptions SpaceRequest::BuilderOptions() const {
  return {limits, "does --input have the size that this architecture wants?", names_blocks};
}

std::string ArchitectureSpaces() {
  return absl::StrJoin(kSpaces, ", ", [](std::string* out, const Space& space) { absl::StrAppend(out, space.name); });
}

absl::StatusOr<graph::Graph> ReadArchitecture(const ArchitectureRequest& request, const Limits& limits) {
  const absl::string_view whole = request.architecture;
  if (static_cast<int64_t>(whole.size()) > limits.architecture_bytes) {
    return UserError(Diagnostic::Kind::kLimit, LimitMessage("architecture", static_cast<int64_t>(whole.size()),
                                                            limits.architecture_bytes, "bytes"));
  }
  const size_t colon = whole.find(':');
  const absl::string_view head = whole.substr(0, colon);
  const size_t comma = head.find(',');
  const absl::string_view name = absl::StripAsciiWhitespace(head.substr(0, comma));
  const auto* const space =
      std::find_if(std::begin(kSpaces), std::end(kSpaces), [name](const Space& s) { return s.name == name; });
  if (space == std::end(kSpaces)) {
    return UsageError(absl::StrCat("architecture ", name.substr(0, 40), ": no such space"),
                      absl::StrCat("write SPACE:STRING with one of ", ArchitectureSpaces()));
  }
  if (colon == absl::string_view::npos) {
    return UsageError(absl::StrCat("architecture ", name, ": the architecture is missing"),
                      absl::StrCat("write ", name, ":", space->example));
  }
  SpaceRequest space_request{ArchText(whole, colon + 1), {}, {}, limits.graph, request.names_blocks};
  if (comma != absl::string_view::npos) {
    COBRA_ASSIGN_OR_RETURN(space_request.options, ParseOptions(*space, head.substr(comma + 1)));
  }
  for (const std::string& input : request.inputs) {
    COBRA_ASSIGN_OR_RETURN(graph::TensorType type, graph::ParseTensorType(input));
    space_request.inputs.push_back(std::move(type));
  }
  return space->build(std::move(space_request));
}

}  // namespace cobra::nas
