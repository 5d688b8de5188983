// A progress line on standard error for operations that take longer than a second, if standard
// error is a terminal:
//
//   Progress progress("reading net.py");      // "reading net.py ... 3 s" after a second, erased at
//                                             // the end
//   progress.Update("asking for 3 of 20");
//   progress.Count("asking", 3, 20);           // "asking: 3 of 20 ... 2 s, about 11 s left"
//
// Where one is inside of another, the inner one is shown. Whatever else is written to a terminal
// meanwhile goes through Say().
#ifndef COBRA_CLIENT_TERMINAL_PROGRESS_H_
#define COBRA_CLIENT_TERMINAL_PROGRESS_H_

#include <cstdint>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace cobra::client {

class Progress {
 public:
  // Shows nothing unless standard error is a terminal.
  explicit Progress(absl::string_view what);
  // Erases its line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is shown from now on.
  void Update(absl::string_view what);
  // The same with a count, from which the rest of the time is estimated.
  void Count(absl::string_view what, int64_t done, int64_t of);

 private:
  void Loop();

  const absl::Time start_;
  absl::Mutex mutex_;
  std::string what_ ABSL_GUARDED_BY(mutex_);
  int64_t counted_ ABSL_GUARDED_BY(mutex_) = 0, of_ ABSL_GUARDED_BY(mutex_) = 0;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Whether one is running, so that a part of a command need not say what the command says better.
bool HasProgress();

// No progress from now on, and Note() is silent: --quiet.
void BeQuiet();
bool NotesAreSilent();
// Writes to standard error, over a progress line if there is one: with '?' for what a terminal
// would obey, but for the colours of a Painter if there are any (`color`).
void Say(absl::string_view text, bool color = false);
// The same for an optional line: nothing after BeQuiet().
void Note(absl::string_view line);

// The line without a time: "asking: 3 of 20", with "about 11 s left" once that can be estimated.
std::string ProgressText(absl::string_view what, int64_t done, int64_t of, absl::Duration since_start);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_TERMINAL_PROGRESS_H_
