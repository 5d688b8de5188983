#include "frontend/nas/hat_config.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status_macros.h"

namespace cobra::nas {
namespace {

constexpr size_t kMaxLayers = 64;  // the space has 6; fairseq's largest have 48

struct Field {
  std::vector<int64_t> values;
  size_t position = 0;
};
using Fields = std::map<std::string, Field>;

// "encoder-ffn-embed-dim-all-subtransformer" -> "encoder_ffn_embed_dim"
std::string CanonicalKey(absl::string_view key) {
  std::string name = absl::StrReplaceAll(key, {{"-", "_"}});
  for (absl::string_view suffix : {"_subtransformer", "_all"}) {
    if (absl::EndsWith(name, suffix)) name.resize(name.size() - suffix.size());
  }
  return name;
}

absl::StatusOr<Fields> ParseFields(ArchText& text) {
  constexpr absl::string_view kKeys[] = {"encoder_embed_dim",
                                         "decoder_embed_dim",
                                         "encoder_layer_num",
                                         "decoder_layer_num",
                                         "encoder_ffn_embed_dim",
                                         "decoder_ffn_embed_dim",
                                         "encoder_self_attention_heads",
                                         "decoder_self_attention_heads",
                                         "decoder_ende_attention_heads",
                                         "decoder_arbitrary_ende_attn"};
  Fields fields;
  while (true) {
    while (text.Consume(",") || text.Consume(";") || text.Consume("{") || text.Consume("}")) {
    }
    if (text.AtEnd()) return fields;
    const size_t begin = text.position();
    const absl::string_view quote = text.Consume("'") ? "'" : text.Consume("\"") ? "\"" : "";
    const absl::string_view key = text.Word("-");
    if (!quote.empty()) COBRA_RETURN_IF_ERROR(text.Expect(quote));
    if (key.empty()) return text.Error("a key such as encoder-embed-dim expected here");
    if (!text.Consume(":")) COBRA_RETURN_IF_ERROR(text.Expect("="));
    if ((key == "encoder" || key == "decoder") && text.Peek("{")) continue;  // a nested dictionary
    const std::string name = CanonicalKey(key);
    if (absl::EndsWith(name, "_avg")) {
      return text.ErrorAt(begin, "an average over layers does not describe a network",
                          "rows of HAT's latency data hold ten such features: give them to the predictor of space hat "
                          "(cobra-train) as features; a graph needs the full configuration, every layer's sizes");
    }
    bool known = false;
    for (absl::string_view k : kKeys) known = known || k == name;
    if (!known) return text.ErrorAt(begin, "not a key of a SubTransformer");
    Field field;
    text.SkipSpace();
    field.position = text.position();
    if (text.Peek("[") || text.Peek("(")) {
      COBRA_ASSIGN_OR_RETURN(field.values, text.IntList(kMaxLayers));
    } else {
      COBRA_ASSIGN_OR_RETURN(const int64_t value, text.Int());
      field.values.push_back(value);
    }
    if (!fields.emplace(name, std::move(field)).second) return text.ErrorAt(begin, "this key is given twice");
  }
}

class Reader {
 public:
  Reader(const ArchText& text, const Fields& fields) : text_(text), fields_(fields) {}

  absl::StatusOr<int64_t> One(const std::string& key, int64_t min, int64_t max) const {
    COBRA_ASSIGN_OR_RETURN(const Field* field, Find(key));
    if (field->values.size() != 1 || field->values[0] < min || field->values[0] > max) {
      return text_.ErrorAt(field->position, absl::StrCat(key, " is one number from ", min, " to ", max));
    }
    return field->values[0];
  }

  absl::StatusOr<std::vector<int64_t>> PerLayer(const std::string& key, int64_t layers, int64_t min,
                                                int64_t max) const {
    COBRA_ASSIGN_OR_RETURN(const Field* field, Find(key));
    if (static_cast<int64_t>(field->values.size()) < layers) {
      return text_.ErrorAt(field->position,
                           absl::StrCat(key, " has ", field->values.size(), " numbers for ", layers, " layers"));
    }
    for (int64_t value : field->values) {
      if (value < min || value > max) {
        return text_.ErrorAt(field->position, absl::StrCat(key, ": ", value, " is not from ", min, " to ", max));
      }
    }
    return std::vector<int64_t>(field->values.begin(), field->values.begin() + layers);
  }

  absl::StatusOr<std::vector<int64_t>> Heads(const std::string& key, int64_t layers, int64_t qkv_dim) const {
    COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> heads, PerLayer(key, layers, 1, qkv_dim));
    for (int64_t h : heads) {
      if (qkv_dim % h != 0) {
        return UnbuildableError(
            absl::StrCat("hat: ", key, ": qkv_dim ", qkv_dim, " cannot be divided by ", h, " heads"));
      }
    }
    return heads;
  }

 private:
  absl::StatusOr<const Field*> Find(const std::string& key) const {
    const auto found = fields_.find(key);
    if (found != fields_.end()) return &found->second;
    return text_.Error(absl::StrCat(key, " is missing"));
  }

  const ArchText& text_;
  const Fields& fields_;
};

}  // namespace

absl::StatusOr<HatConfig> ParseHatConfig(ArchText& text, int64_t qkv_dim) {
  constexpr int64_t kMaxWidth = 1 << 16;
  COBRA_ASSIGN_OR_RETURN(const Fields fields, ParseFields(text));
  const Reader read(text, fields);
  HatConfig config;
  for (HatSide* side : {&config.encoder, &config.decoder}) {
    const std::string prefix = side == &config.encoder ? "encoder" : "decoder";
    COBRA_ASSIGN_OR_RETURN(side->embed_dim, read.One(prefix + "_embed_dim", 1, kMaxWidth));
    COBRA_ASSIGN_OR_RETURN(const int64_t layers, read.One(prefix + "_layer_num", 1, kMaxLayers));
    COBRA_ASSIGN_OR_RETURN(side->ffn_embed_dim, read.PerLayer(prefix + "_ffn_embed_dim", layers, 1, kMaxWidth));
    COBRA_ASSIGN_OR_RETURN(side->self_attention_heads, read.Heads(prefix + "_self_attention_heads", layers, qkv_dim));
  }
  const auto layers = static_cast<int64_t>(config.decoder.ffn_embed_dim.size());
  const auto encoder_layers = static_cast<int64_t>(config.encoder.ffn_embed_dim.size());
  COBRA_ASSIGN_OR_RETURN(config.ende_attention_heads, read.Heads("decoder_ende_attention_heads", layers, qkv_dim));
  COBRA_ASSIGN_OR_RETURN(config.arbitrary_ende_attn, read.PerLayer("decoder_arbitrary_ende_attn", layers, -1, 2));
  for (int64_t reach : config.arbitrary_ende_attn) {
    if (reach == 0) return UnbuildableError("hat: decoder_arbitrary_ende_attn is -1, 1 or 2, not 0");
    if (reach >= encoder_layers) {
      return UnbuildableError(absl::StrCat("hat: decoder_arbitrary_ende_attn ", reach, " attends to ", reach + 1,
                                           " layers, the encoder has ", encoder_layers));
    }
  }
  return config;
}

}  // namespace cobra::nas
