// _re: regular expressions by RE2, whose time is linear in the text whatever the pattern. Look-around and back-references, which
// RE2 does not have, are refused as unsupported.
#include <re2/re2.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "frontend/python/runtime/internal.h"
#include "frontend/python/runtime/stdlib.h"

namespace cobra::python {
namespace {

class CompiledPattern : public NativeObject {
 public:
  CompiledPattern(const std::string& pattern, const RE2::Options& options) : re(pattern, options) {}
  RE2 re;
};

enum Flags { kIgnoreCase = 2, kMultiLine = 8, kDotAll = 16, kVerbose = 64 };

// Blanks and comments out of a verbose pattern.
std::string StripVerbose(absl::string_view p) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < p.size(); ++i) {
    char c = p[i];
    if (c == '\\' && i + 1 < p.size()) {
      out.append(p.data() + i, 2);
      ++i;
    } else if (in_class || c == '[') {
      in_class = c != ']';
      out.push_back(c);
    } else if (c == '#') {
      while (i < p.size() && p[i] != '\n') ++i;
    } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      out.push_back(c);
    }
  }
  return out;
}

// Python's spelling to RE2's.
std::string Translate(absl::string_view p) {
  std::string out;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == '\\' && i + 1 < p.size()) {
      out += p[i + 1] == 'Z' ? "\\z" : std::string(p.substr(i, 2));
      ++i;
    } else {
      out.push_back(p[i]);
    }
  }
  return out;
}

Result<Value> Compile(Interpreter& interp, const CallArgs& args) {
  Value pattern;
  int64_t flags = 0;
  ArgReader reader(interp, "compile", args);
  COBRA_TRY(reader.Required("pattern", &pattern).Optional("flags", &flags).Finish());
  if (!pattern.IsStr()) {
    if (pattern.IsBytes()) return interp.Unsupported("a regular expression on bytes");
    return interp.Raise(interp.types().TypeError, "first argument must be string or compiled pattern");
  }
  std::string text(pattern.str());
  if (flags & kVerbose) text = StripVerbose(text);
  text = Translate(text);
  std::string prefix;
  if (flags & kIgnoreCase) prefix += 'i';
  if (flags & kMultiLine) prefix += 'm';
  if (flags & kDotAll) prefix += 's';
  if (!prefix.empty()) text = absl::StrCat("(?", prefix, ")", text);
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(int64_t{8} << 20);
  auto* compiled = interp.heap().New<CompiledPattern>(text, options);
  if (!compiled->re.ok()) {
    // What RE2 lacks and what is wrong look alike: name the pattern.
    return interp.Unsupported(absl::StrCat("the regular expression ", QuotedStr(pattern.str()), " (", compiled->re.error(), ")"));
  }
  return Value(interp.NewInstance(interp.types().object, compiled));
}

Result<Value> Groups(Interpreter& interp, const CallArgs& args) {
  Value handle;
  ArgReader reader(interp, "groups", args);
  COBRA_TRY(reader.Required("handle", &handle).Finish());
  auto* compiled = NativeCast<CompiledPattern>(handle);
  if (compiled == nullptr) return interp.Raise(interp.types().TypeError, "not a pattern");
  std::map<int, std::string> names;
  for (const auto& [name, index] : compiled->re.NamedCapturingGroups()) names[index] = name;
  DictObject* d = interp.NewDict();
  for (const auto& [index, name] : names) interp.DictSetStr(d, name, Value::Int(index));
  return Value(interp.NewTuple({Value::Int(compiled->re.NumberOfCapturingGroups()), Value(d)}));
}

// None, or a tuple of (start, end) in code points; how: 0 search, 1 match, 2 full match.
Result<Value> Run(Interpreter& interp, const CallArgs& args) {
  Value handle;
  StrObject* s;
  int64_t position = 0, how = 0;
  ArgReader reader(interp, "run", args);
  COBRA_TRY(reader.Required("handle", &handle).Required("string", &s).Required("pos", &position).Required("how", &how).Finish());
  auto* compiled = NativeCast<CompiledPattern>(handle);
  if (compiled == nullptr) return interp.Raise(interp.types().TypeError, "not a pattern");
  position = std::min(std::max<int64_t>(position, 0), s->length);
  size_t start = static_cast<size_t>(ByteOffset(s, position));
  int count = compiled->re.NumberOfCapturingGroups() + 1;
  std::vector<re2::StringPiece> groups(static_cast<size_t>(count));
  re2::StringPiece text(s->data, static_cast<size_t>(s->size));
  RE2::Anchor anchor = how == 0 ? RE2::UNANCHORED : how == 1 ? RE2::ANCHOR_START : RE2::ANCHOR_BOTH;
  if (!compiled->re.Match(text, start, text.size(), anchor, groups.data(), count)) return Value::None();
  TupleObject* spans = interp.NewTupleOfSize(count);
  auto code_points = [&](const char* p) {
    if (s->ascii) return static_cast<int64_t>(p - s->data);
    int64_t n = 0;
    for (const char* q = s->data; q < p; ++q) n += (static_cast<unsigned char>(*q) & 0xc0) != 0x80;
    return n;
  };
  for (int i = 0; i < count; ++i) {
    const re2::StringPiece& g = groups[static_cast<size_t>(i)];
    spans->items[i] = g.data() == nullptr
                          ? interp.NewTuple({Value::Int(-1), Value::Int(-1)})
                          : interp.NewTuple({Value::Int(code_points(g.data())), Value::Int(code_points(g.data() + g.size()))});
  }
  return Value(spans);
}

}  // namespace

void AddReModule(NativeRegistry* registry) {
  NativeModule module;
  module.name = "_re";
  module.define = [](Interpreter&, NativeModuleBuilder& m) -> Result<void> {
    m.Function("compile", Compile).Function("groups", Groups).Function("run", Run);
    return {};
  };
  registry->Add(std::move(module));
}

}  // namespace cobra::python
