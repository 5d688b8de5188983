#include "client/terminal/progress.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/terminal/output.h"
#include "client/terminal/terminal.h"
#include "client/terminal/text_table.h"
#include "client/terminal/wrap.h"

namespace cobra::client {
namespace {

std::atomic<bool> g_quiet{false};

// What standard error shows. One for the process, as there is one terminal.
absl::Mutex g_line(absl::kConstInit);
std::vector<const Progress*>* const g_running ABSL_PT_GUARDED_BY(g_line) = new std::vector<const Progress*>();
bool g_is_drawn ABSL_GUARDED_BY(g_line) = false;

void Erase() ABSL_EXCLUSIVE_LOCKS_REQUIRED(g_line) {
  if (g_is_drawn) std::fputs("\r\033[K", stderr);
  g_is_drawn = false;
}

std::string SecondsText(absl::Duration d) { return absl::StrCat(absl::ToInt64Seconds(d), " s"); }

}  // namespace

std::string ProgressText(absl::string_view what, int64_t done, int64_t of, absl::Duration since_start) {
  if (of <= 0) return absl::StrCat(what, " ... ", SecondsText(since_start));
  std::string text = absl::StrCat(what, ": ", done, " of ", of, " ... ", SecondsText(since_start));
  // The first few say nothing about the others: they read the libraries.
  constexpr int64_t kFew = 5;
  if (done >= kFew && done < of) {
    const absl::Duration rest = since_start * (static_cast<double>(of - done) / static_cast<double>(done));
    absl::StrAppend(&text, ", about ", SecondsText(rest), " left");
  }
  return text;
}

Progress::Progress(absl::string_view what) : start_(absl::Now()), what_(what) {
  if (g_quiet || !CanRedrawStandardError()) return;
  {
    absl::MutexLock lock(&g_line);
    g_running->push_back(this);
  }
  thread_ = std::thread([this] { Loop(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    absl::MutexLock lock(&mutex_);
    done_ = true;
  }
  thread_.join();
  absl::MutexLock lock(&g_line);
  Erase();
  g_running->erase(std::find(g_running->begin(), g_running->end(), this));
}

void Progress::Update(absl::string_view what) {
  absl::MutexLock lock(&mutex_);
  what_ = std::string(what);
  of_ = 0;
}

void Progress::Count(absl::string_view what, int64_t done, int64_t of) {
  absl::MutexLock lock(&mutex_);
  what_ = std::string(what);
  counted_ = done;
  of_ = of;
}

void Progress::Loop() {
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&done_), absl::Seconds(1))) {
    const std::string text = TerminalText(ProgressText(what_, counted_, of_, absl::Now() - start_), /*color=*/false);
    absl::MutexLock line(&g_line);
    if (g_running->back() != this) continue;
    // A line that wraps could not be erased.
    Erase();
    std::fputs(Shortened(text, std::max(StandardErrorStyle().width - 1, 1)).c_str(), stderr);
    std::fflush(stderr);
    g_is_drawn = true;
  }
}

bool HasProgress() {
  absl::MutexLock lock(&g_line);
  return !g_running->empty();
}

void BeQuiet() { g_quiet = true; }

bool NotesAreSilent() { return g_quiet; }

void Say(absl::string_view text, bool color) {
  const std::string shown = WordWrapped(TextForPeople(text, color), StandardErrorStyle().width);
  absl::MutexLock lock(&g_line);
  Erase();
  std::fwrite(shown.data(), 1, shown.size(), stderr);
  std::fflush(stderr);
}

void Note(absl::string_view line) {
  if (!g_quiet) Say(absl::StrCat(line, "\n"));
}

}  // namespace cobra::client
