#include "frontend/python/example_inputs.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frontend/python/list_models.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/syntax/ast.h"
#include "frontend/python/torch/tensor/tensor.h"
#include "graph/types.h"

namespace cobra::python {
namespace {

constexpr size_t kMostInputs = 16;
constexpr size_t kMostText = 100'000;

// A value as --input has it: a tensor, None, lists and tuples and dictionaries of these; none if it
// is anything else.
std::optional<std::string> TextOf(Interpreter& interp, Value value, int depth = 0) {
  constexpr int kMostDepth = 4;
  if (const Tensor* tensor = AsTensor(value)) return graph::TypeText(tensor->type);
  if (value.IsNone()) return "None";
  if (depth > kMostDepth) return std::nullopt;
  std::vector<std::string> parts;
  const auto add = [&](absl::string_view key, Value item) {
    const std::optional<std::string> text = parts.size() < kMostInputs ? TextOf(interp, item, depth + 1) : std::nullopt;
    if (text.has_value()) parts.push_back(absl::StrCat(key, *text));
    return text.has_value();
  };
  if (value.IsDict()) {
    const DictTable& table = value.as<DictObject>()->table;
    for (size_t i = 0; i < table.entry_count(); ++i) {
      const auto& entry = table.entry(i);
      if (entry.key.IsUnbound()) continue;
      const absl::string_view key = entry.key.IsStr() ? entry.key.str() : "";
      const bool plain = !key.empty() && absl::c_all_of(key, [](char c) {
        return c == '_' || absl::ascii_isalnum(static_cast<unsigned char>(c));
      });
      if (!plain || !add(absl::StrCat("\"", key, "\": "), entry.value)) return std::nullopt;
    }
    return absl::StrCat("{", absl::StrJoin(parts, ", "), "}");
  }
  if (!value.IsTuple() && !value.IsList()) return std::nullopt;
  Result<std::vector<Value>> items = interp.ToVector(value);
  if (!items.ok()) return std::nullopt;
  for (Value item : *items) {
    if (!add("", item)) return std::nullopt;
  }
  const std::string inside = absl::StrJoin(parts, ", ");
  if (value.IsList()) return absl::StrCat("[", inside, "]");
  return absl::StrCat("(", inside, parts.size() == 1 ? ",)" : ")");
}

// In quotation marks where a shell would take the text apart. It has no ' in it.
std::string AsFlag(const std::string& text) {
  const char* quote = text.find_first_of(" {[(") == text.npos ? "" : "'";
  return absl::StrCat("--input ", quote, text, quote);
}

// The parameters of the method that can be given by position, without self.
std::vector<std::string> ParameterNames(Interpreter& interp, Value model, absl::string_view method) {
  const ast::FunctionDef* definition = DefinitionOf(interp, model, method);
  std::vector<std::string> names;
  if (definition == nullptr) return names;
  const ast::Arguments& a = *definition->args;
  for (const auto& list : {a.posonlyargs, a.args}) {
    for (const ast::Arg* arg : list) names.emplace_back(arg->arg->text);
  }
  if (!model.IsFunction() && !names.empty()) names.erase(names.begin());
  return names;
}

// The items as inputs, numbers and flags as arguments by their names in the method; nothing if one
// is neither.
std::vector<std::string> TextsOf(Interpreter& interp, Value value, Value model, absl::string_view method) {
  if (AsTensor(value) != nullptr || value.IsDict()) {
    const std::optional<std::string> text = TextOf(interp, value);
    return text.has_value() ? std::vector<std::string>{AsFlag(*text)} : std::vector<std::string>();
  }
  if (!value.IsTuple() && !value.IsList()) return {};
  Result<std::vector<Value>> items = interp.ToVector(value);
  if (!items.ok() || items->size() > kMostInputs) return {};
  const std::vector<std::string> names = ParameterNames(interp, model, method);
  std::vector<std::string> texts;
  for (size_t i = 0; i < items->size(); ++i) {
    const Value item = (*items)[i];
    std::optional<std::string> text = TextOf(interp, item);
    if (text.has_value()) {
      texts.push_back(AsFlag(*text));
    } else if (i < names.size() && (item.IsInt() || item.IsFloat() || item.IsBool())) {
      Result<StrObject*> shown = interp.Repr(item);
      if (!shown.ok()) return {};
      texts.push_back(absl::StrCat("--arg ", names[i], "=", (*shown)->view()));
    } else {
      return {};
    }
  }
  return texts;
}

std::vector<std::string> OfGetInputs(Interpreter& interp, ModuleObject* module, Value model, absl::string_view method) {
  const Value* function = module->attrs->table.GetStr(interp.Intern("get_inputs"));
  if (function == nullptr || !function->IsFunction()) return {};
  Result<Value> made = interp.Call(*function, CallArgs());
  return made.ok() ? TextsOf(interp, *made, model, method) : std::vector<std::string>();
}

// timm: model.default_cfg["input_size"] is (3, 224, 224); newer versions have an object with the
// attribute.
std::optional<std::string> OfConfiguration(Interpreter& interp, Value model) {
  for (const char* name : {"pretrained_cfg", "default_cfg"}) {
    Result<Value> found = interp.GetAttrOrUnbound(model, name);
    if (!found.ok() || found->IsUnbound()) continue;
    Result<Value> size = found->IsDict() ? Result<Value>(interp.DictGetStr(found->as<DictObject>(), "input_size"))
                                         : interp.GetAttrOrUnbound(*found, "input_size");
    if (!size.ok() || size->IsUnbound() || (!size->IsTuple() && !size->IsList())) continue;
    Result<std::vector<Value>> items = interp.ToVector(*size);
    if (!items.ok() || items->empty() || items->size() > 5) continue;
    std::string text = "1";
    for (Value item : *items) {
      if (!item.IsInt()) return std::nullopt;
      absl::StrAppend(&text, "x", item.as_int());
    }
    return text;
  }
  return std::nullopt;
}

// "1, 3, 224, 224)..." or "(1, 16))...": the sizes up to the parenthesis; none if there is anything
// else.
std::optional<std::string> Sizes(absl::string_view text) {
  absl::ConsumePrefix(&text, "(");
  absl::ConsumePrefix(&text, "[");
  const size_t end = text.find_first_of(")]");
  if (end == absl::string_view::npos || end == 0 || end > 80) return std::nullopt;
  std::vector<std::string> sizes;
  for (absl::string_view part : absl::StrSplit(text.substr(0, end), ',')) {
    part = absl::StripAsciiWhitespace(part);
    int64_t size = 0;
    if (part.empty() && !sizes.empty()) continue;  // (1, )
    if (!absl::SimpleAtoi(part, &size) || size <= 0) return std::nullopt;
    sizes.push_back(std::string(part));
  }
  return absl::StrJoin(sizes, "x");
}

// Adds what calls of torch.randn and the like in a text make, in order.
void AddCalls(absl::string_view text, std::vector<std::string>* inputs) {
  text = text.substr(0, kMostText);
  for (size_t at = text.find("torch."); at != absl::string_view::npos; at = text.find("torch.", at + 1)) {
    absl::string_view call = text.substr(at + 6);
    std::string suffix;
    if (absl::ConsumePrefix(&call, "randint(")) {  // the sizes follow the bounds
      const size_t sizes = call.substr(0, 40).find('(');
      if (sizes == absl::string_view::npos) continue;
      call.remove_prefix(sizes);
      suffix = ":int64";
    } else if (!absl::ConsumePrefix(&call, "randn(") && !absl::ConsumePrefix(&call, "rand(") &&
               !absl::ConsumePrefix(&call, "zeros(") && !absl::ConsumePrefix(&call, "ones(") &&
               !absl::ConsumePrefix(&call, "empty(")) {
      continue;
    }
    if (const std::optional<std::string> sizes = Sizes(call); sizes && inputs->size() < kMostInputs)
      inputs->push_back(absl::StrCat(*sizes, suffix));
  }
}

void AddDoc(Interpreter& interp, Value object, std::vector<std::string>* inputs) {
  Result<Value> doc = interp.GetAttrOrUnbound(object, "__doc__");
  if (doc.ok() && doc->IsStr()) AddCalls(doc->str(), inputs);
}

void AddMain(const ModuleObject* module, std::vector<std::string>* inputs) {
  if (module->unit == nullptr) return;
  const ast::Ast& tree = module->unit->code->ast();
  for (const ast::StmtNode* s : tree.module()->body) {
    const auto* branch = s->AsOrNull<ast::If>();
    if (branch != nullptr && absl::StrContains(tree.Text(branch->test->pos), "__name__"))
      AddCalls(tree.Text(s->pos), inputs);
  }
}

// Parameters of the method that have no default, without self.
size_t NumRequired(Interpreter& interp, Value model, absl::string_view method) {
  const ast::FunctionDef* definition = DefinitionOf(interp, model, method);
  if (definition == nullptr) return 1;
  const ast::Arguments& a = *definition->args;
  const size_t all = a.posonlyargs.size() + a.args.size(), skip = model.IsFunction() ? 0 : 1;
  return all < skip + a.defaults.size() ? 0 : all - skip - a.defaults.size();
}

}  // namespace

ExampleInputs FindExampleInputs(Interpreter& interp, ModuleObject* module, Value model, absl::string_view method) {
  const auto forget = [&] { (void)interp.CatchException(interp.types().BaseException); };
  if (std::vector<std::string> inputs = OfGetInputs(interp, module, model, method); !inputs.empty())
    return {std::move(inputs), "get_inputs()"};
  forget();
  if (const std::optional<std::string> input = OfConfiguration(interp, model))
    return {{AsFlag(*input)}, "its configuration"};
  forget();
  const size_t required = NumRequired(interp, model, method);
  if (required == 0) return {};
  std::vector<std::string> inputs;
  if (!model.IsFunction()) {
    AddDoc(interp, interp.LookupClass(interp.class_of(model), interp.Intern(method)), &inputs);
    AddDoc(interp, Value(interp.class_of(model)), &inputs);
  }
  AddDoc(interp, Value(module), &inputs);
  std::string origin = "its docstring";
  if (inputs.size() < required) {
    inputs.clear();
    AddMain(module, &inputs);
    origin = "the part below __main__";
  }
  forget();
  if (inputs.size() < required) return {};
  inputs.resize(required);
  for (std::string& input : inputs) input = AsFlag(input);
  return {std::move(inputs), std::move(origin)};
}

}  // namespace cobra::python
