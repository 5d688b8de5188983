#include "client/doctor/doctor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/process/blas_core_type.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "client/local_server.h"
#include "client/terminal/output.h"
#include "client/terminal/progress.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

constexpr const char* kNames[] = {"ok", "warn", "fail"};

const char* NameOf(Health health) { return kNames[static_cast<int>(health)]; }

std::string Painted(const Painter& paint, Health health, const std::string& text) {
  return health == Health::kOk ? paint.Good(text) : health == Health::kWarn ? paint.Doubt(text) : paint.Bad(text);
}

// Lines of at most `width` characters after a first one of `used` characters; the others begin
// below it.
std::string Wrapped(const std::string& text, size_t used, int width) {
  if (width <= 0 || static_cast<size_t>(width) < used + 20) return text;
  std::string wrapped;
  size_t column = used;
  for (const absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    if (column > used && column + 1 + word.size() > static_cast<size_t>(width)) {
      absl::StrAppend(&wrapped, "\n", std::string(used, ' '));
      column = used;
    } else if (column > used) {
      wrapped += ' ';
      ++column;
    }
    absl::StrAppend(&wrapped, word);
    column += word.size();
  }
  return wrapped;
}

void Add(Findings more, Findings* all) { std::move(more.begin(), more.end(), std::back_inserter(*all)); }

// The kernels that OpenBLAS should take here.
std::string UsualKernels() {
#if defined(__x86_64__)
  return BlasCoreType(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("avx512f"));
#else
  return "";
#endif
}

Findings Examine(const CommonFlags& common) {
  Findings all;
  json machine;
  Findings programs;
  {
    Progress progress("asking cobra-worker about this machine");
    programs = LookAtPrograms(&machine);
  }
  {
    Progress progress("looking for a server");
    Add(LookAtServer(common, machine), &all);
  }
  Add(LookAtWeights(PlacesOfLocalServer().model), &all);
  Add(LookAtFolders(), &all);
  Add(std::move(programs), &all);
  if (machine.is_object()) Add(LookAtBlas(machine.value("runtime", ""), UsualKernels()), &all);
  Add(LookAtLibraries(), &all);
  Add(LookAtMachine(""), &all);
  return all;
}

}  // namespace

std::string FindingsText(const Findings& findings, const TerminalStyle& style) {
  const Painter paint(style.color);
  size_t widest = 0;
  for (const Finding& f : findings) widest = std::max(widest, f.area.size());
  std::string text;
  for (const Finding& f : findings) {
    const std::string label = NameOf(f.health);
    const std::string begin =
        absl::StrCat(std::string(6 - label.size(), ' '), f.area, std::string(widest - f.area.size() + 2, ' '));
    const std::string line = WithoutEscapes(absl::StrCat(f.text, f.mend.empty() ? "" : "; ", f.mend));
    absl::StrAppend(&text, Painted(paint, f.health, label), begin,
                    Wrapped(line, label.size() + begin.size(), style.width), "\n");
  }
  return text;
}

std::string FindingsJson(const Findings& findings) {
  json list = json::array();
  bool healthy = true;
  for (const Finding& f : findings) {
    healthy = healthy && f.health != Health::kFail;
    list.push_back({{"area", f.area}, {"health", NameOf(f.health)}, {"text", f.text}, {"mend", f.mend}});
  }
  const json all = {{"healthy", healthy}, {"findings", std::move(list)}};
  return IndentedJson(all);
}

absl::StatusOr<int> RunDoctor(const CommonFlags& common) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  const Findings findings = Examine(common);
  const TerminalStyle style = StandardOutputStyle(common.color);
  common.json ? PrintData(FindingsJson(findings)) : PrintText(FindingsText(findings, style), style.color);
  const bool fails =
      std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.health == Health::kFail; });
  return fails ? 1 : 0;
}

}  // namespace cobra::client
