#include "client/check/suite.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/text/similar_words.h"
#include "base/text/utf8.h"
#include "base/user_error.h"
#include "frontend/python/cached_tokens.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include "toml++/toml.h"

namespace cobra::client {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 20;

SourcePosition PositionOf(const std::string& file, const toml::source_region& at) {
  return {file, static_cast<int>(at.begin.line), static_cast<int>(at.begin.column)};
}

class SuiteParser {
 public:
  SuiteParser(const toml::table& root, const std::string& name) : root_(root), name_(name) {}

  absl::StatusOr<std::vector<SuiteModel>> Parse() {
    const toml::table* defaults = nullptr;
    const toml::table* models = nullptr;
    for (auto&& [key, node] : root_) {
      if (key.str() != "defaults" && key.str() != "models")
        return Unknown(key, {"defaults", "models"}, "at the top of the file");
      const toml::table* const table = node.as_table();
      if (table == nullptr) return Error(key.source(), absl::StrCat(Text(key), ": is not a table"), "");
      (key.str() == "defaults" ? defaults : models) = table;
    }
    SuiteModel common;
    if (defaults != nullptr) COBRA_RETURN_IF_ERROR(ReadKeys(*defaults, "in [defaults]", &common));
    for (const char* key : {"model", "arch"}) {
      const toml::node* const node = defaults == nullptr ? nullptr : defaults->get(key);
      if (node != nullptr)
        return Error(node->source(), absl::StrCat(key, ": is not allowed in [defaults]"), "give each model its own");
    }
    std::vector<SuiteModel> suite;
    if (models != nullptr) {
      for (auto&& [key, node] : *models) {
        COBRA_ASSIGN_OR_RETURN(suite.emplace_back(), ReadModel(key, node, common));
      }
    }
    if (suite.empty()) return Error(root_.source(), "has no models", "add one: [models.NAME] with model = \"net.py\"");
    std::stable_sort(suite.begin(), suite.end(),
                     [](const SuiteModel& a, const SuiteModel& b) { return a.line < b.line; });
    return suite;
  }

 private:
  using Setter = absl::Status (SuiteParser::*)(const std::string&, const toml::node&, SuiteModel*);
  struct KeyRow {
    const char* name;
    Setter set;
  };
  static const std::vector<KeyRow>& Keys() {
    static const auto* const kKeys =
        new std::vector<KeyRow>{{"model", &SuiteParser::SetText},          {"arch", &SuiteParser::SetText},
                                {"entry", &SuiteParser::SetText},          {"method", &SuiteParser::SetText},
                                {"mode", &SuiteParser::SetText},           {"torch-version", &SuiteParser::SetText},
                                {"inputs", &SuiteParser::SetList},         {"arguments", &SuiteParser::SetList},
                                {"libraries", &SuiteParser::SetList},      {"targets", &SuiteParser::SetList},
                                {"budget-ms", &SuiteParser::SetBudget},    {"max-increase", &SuiteParser::SetPercent},
                                {"noise", &SuiteParser::SetPercent},       {"min-confidence", &SuiteParser::SetNumber},
                                {"cached-tokens", &SuiteParser::SetNumber}};
    return *kKeys;
  }

  static std::string Text(const toml::key& key) { return std::string(key.str()); }

  absl::Status Error(const toml::source_region& at, std::string message, std::string hint) const {
    return UserError(Diagnostic::Kind::kUsage, std::move(message), std::move(hint), PositionOf(name_, at));
  }

  absl::Status Unknown(const toml::key& key, const std::vector<std::string>& known, absl::string_view where) const {
    const std::string nearest = NearestWord(Text(key), known);
    return Error(key.source(), absl::StrCat(Text(key), ": is not a key ", where),
                 nearest.empty() ? absl::StrCat("keys there: ", absl::StrJoin(known, ", "))
                                 : absl::StrCat("did you mean ", nearest, "?"));
  }

  absl::Status ReadKeys(const toml::table& table, absl::string_view where, SuiteModel* model) {
    for (auto&& [key, node] : table) {
      const auto row = std::find_if(Keys().begin(), Keys().end(),
                                    [name = Text(key)](const KeyRow& known) { return known.name == name; });
      if (row == Keys().end()) {
        std::vector<std::string> known;
        for (const KeyRow& k : Keys()) known.push_back(k.name);
        return Unknown(key, known, where);
      }
      COBRA_RETURN_IF_ERROR((this->*row->set)(Text(key), node, model));
    }
    return absl::OkStatus();
  }

  // A name is printed, in logs of CI too, where a line may be a command.
  static bool IsPrintable(absl::string_view name) {
    return std::none_of(name.begin(), name.end(), [](unsigned char c) { return absl::ascii_iscntrl(c); });
  }

  absl::StatusOr<SuiteModel> ReadModel(const toml::key& key, const toml::node& node, SuiteModel model) {
    if (!IsPrintable(Text(key)))
      return Error(key.source(), "a model's name has control characters", "use letters, digits, '-' and '_'");
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      return Error(key.source(), absl::StrCat("models.", Text(key), ": is not a table"),
                   absl::StrCat("a model is a table: [models.", Text(key), "]"));
    }
    model.name = Text(key);
    model.line = static_cast<int>(key.source().begin.line);
    if (model.name.empty()) return Error(key.source(), "models: one has an empty name", "give it a name");
    COBRA_RETURN_IF_ERROR(ReadKeys(*table, absl::StrCat("of the model ", model.name), &model));
    if (model.model.path.empty() && model.model.architecture.empty())
      return Error(key.source(), absl::StrCat(model.name, ": has no model"), "add model = \"net.py\"");
    if (!model.model.path.empty() && !model.model.architecture.empty())
      return Error(key.source(), absl::StrCat(model.name, ": has both model and arch"), "give one of the two");
    for (const auto& [target, budget] : model.budgets_ms) {
      if (target.empty() || model.targets.empty()) continue;
      if (std::find(model.targets.begin(), model.targets.end(), target) == model.targets.end()) {
        return Error(key.source(),
                     absl::StrCat(model.name, ": has a budget for ", target, ", which is not one of its targets"),
                     absl::StrCat("its targets: ", absl::StrJoin(model.targets, ", ")));
      }
    }
    return model;
  }

  absl::StatusOr<std::string> TextOf(const std::string& key, const toml::node& node, absl::string_view example) const {
    const auto* const text = node.as_string();
    if (text == nullptr || text->get().empty() || absl::StrContains(text->get(), '\0'))
      return Error(node.source(), absl::StrCat(key, ": is not a text"),
                   absl::StrCat("for example: ", key, " = ", example));
    return text->get();
  }

  absl::Status SetText(const std::string& key, const toml::node& node, SuiteModel* m) {
    const char* const example = key == "model" ? "\"net.py\"" : key == "mode" ? "\"eval\"" : "\"Net()\"";
    COBRA_ASSIGN_OR_RETURN(std::string text, TextOf(key, node, example));
    ModelArguments& model = m->model;
    if (key == "mode") {
      if (text != "eval" && text != "train")
        return Error(node.source(), absl::StrCat("mode: ", text, " is not a mode"), "mode = \"eval\" or \"train\"");
      model.training = text == "train";
      return absl::OkStatus();
    }
    std::string& value = key == "model"    ? model.path
                         : key == "arch"   ? model.architecture
                         : key == "entry"  ? model.entry
                         : key == "method" ? model.method
                                           : model.torch_version;
    value = std::move(text);
    return absl::OkStatus();
  }

  absl::Status SetList(const std::string& key, const toml::node& node, SuiteModel* m) {
    std::vector<std::string> values;
    const char* const example = key == "inputs" ? "\"1x3x224x224\"" : "\"...\"";
    if (const toml::array* const array = node.as_array()) {
      for (const toml::node& value : *array) {
        COBRA_ASSIGN_OR_RETURN(values.emplace_back(), TextOf(key, value, absl::StrCat("[", example, "]")));
      }
    } else {
      COBRA_ASSIGN_OR_RETURN(values.emplace_back(), TextOf(key, node, absl::StrCat("[", example, "]")));
    }
    (key == "inputs"      ? m->model.inputs
     : key == "arguments" ? m->model.arguments
     : key == "libraries" ? m->model.libraries
                          : m->targets) = std::move(values);
    return absl::OkStatus();
  }

  absl::StatusOr<double> PositiveOf(const std::string& key, const toml::node& node) const {
    const double value = node.is_number() ? node.value<double>().value_or(0) : 0;
    if (value > 0 && std::isfinite(value)) return value;
    return Error(node.source(), absl::StrCat(key, ": is not a number above 0"),
                 absl::StrCat("for example: ", key, " = 50"));
  }

  absl::Status SetBudget(const std::string& key, const toml::node& node, SuiteModel* m) {
    m->budgets_ms.clear();
    const toml::table* const table = node.as_table();
    if (table == nullptr) {
      COBRA_ASSIGN_OR_RETURN(m->budgets_ms[""], PositiveOf(key, node));
      return absl::OkStatus();
    }
    for (auto&& [target, budget] : *table) {
      COBRA_ASSIGN_OR_RETURN(m->budgets_ms[Text(target)], PositiveOf(absl::StrCat(key, ".", Text(target)), budget));
    }
    return absl::OkStatus();
  }

  absl::Status SetPercent(const std::string& key, const toml::node& node, SuiteModel* m) {
    const auto* const text = node.as_string();
    const absl::StatusOr<double> value = ParseIncrease(key, text == nullptr ? "" : text->get());
    if (!value.ok())
      return Error(node.source(), absl::StrCat(key, ": is not a percentage"),
                   absl::StrCat("for example: ", key, " = \"5%\""));
    (key == "noise" ? m->thresholds.noise : m->thresholds.max_increase) = *value;
    return absl::OkStatus();
  }

  absl::Status SetNumber(const std::string& key, const toml::node& node, SuiteModel* m) {
    if (key == "cached-tokens") {
      const int64_t tokens = node.is_integer() ? node.value<int64_t>().value_or(0) : 0;
      if (tokens < 1 || tokens > python::kMaxCachedTokens) {
        return Error(node.source(), "cached-tokens: is not a number of tokens",
                     absl::StrCat("1 to ", python::kMaxCachedTokens));
      }
      m->model.cached_tokens = tokens;
      return absl::OkStatus();
    }
    const double value = node.is_number() ? node.value<double>().value_or(-1) : -1;
    if (!(value >= 0 && value <= 1))
      return Error(node.source(), "min-confidence: is not a number from 0 to 1", "for example: min-confidence = 0.5");
    m->thresholds.min_confidence = value;
    return absl::OkStatus();
  }

  const toml::table& root_;
  const std::string name_;
};

}  // namespace

absl::StatusOr<std::vector<SuiteModel>> ParseSuite(absl::string_view text, const std::string& name) {
  if (const auto bytes = static_cast<int64_t>(text.size()); bytes > kMostBytes)
    return UserError(Diagnostic::Kind::kLimit, LimitMessage("", bytes, kMostBytes, "bytes"), "", {name});
  const toml::parse_result result = toml::parse(std::string_view(text.data(), text.size()), name);
  if (result) return SuiteParser(result.table(), name).Parse();
  const toml::parse_error& error = result.error();
  return UserError(Diagnostic::Kind::kUsage,
                   absl::StrCat("is not TOML: ", ReplaceInvalidUtf8(std::string(error.description()))), "",
                   PositionOf(name, error.source()));
}

}  // namespace cobra::client
