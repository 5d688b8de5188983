#include "worker/meter/process_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/limit_message.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "nlohmann/json.hpp"
#include "worker/meter/meter.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::json;

// What a runner's times may lack of the time that passed here, or have more: the way of a request,
// rounding.
constexpr double kClockTolerance = 0.2;
constexpr double kClockSlackNs = 20e6;
constexpr double kSlackOfRequestNs = 1e6;
constexpr double kMostProfiledUs = 1e12;  // of one entry: eleven days
constexpr size_t kMostNameBytes = 64;
constexpr size_t kMostTextBytes = 1000;           // of what a runner says to people
constexpr int64_t kMostProfileNumbers = 100'000;  // entries, and their calls
constexpr double kClockCheckNs = 150e6;           // in which a clock that is wrong by half shows
constexpr double kMostCallsOfClockCheck = 1e6;
constexpr int kTriesOfClockCheck = 4;
constexpr char kOutOfMemoryScore[] = "500";  // of 1000: killed before the worker, which has 0

// The text of a member, of bounded length and with nothing in it that a terminal obeys: it gets
// into records.
std::string TextOf(const Json& object, const char* key, absl::string_view fallback = "") {
  const auto found = object.find(key);
  std::string text(fallback);
  if (found != object.end() && found->is_string()) text = found->get<std::string>();
  if (text.size() > kMostTextBytes) text = absl::StrCat(ReplaceInvalidUtf8(text.substr(0, kMostTextBytes)), "...");
  return WithoutEscapes(text);
}

// What a message shows of a line that is no answer.
std::string Excerpt(absl::string_view line) {
  constexpr size_t kShown = 80;
  return absl::StrCat("\"", absl::CHexEscape(line.substr(0, kShown)), line.size() > kShown ? "...\"" : "\"");
}

int PollTimeoutMs(absl::Time deadline) {
  const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1000));
}

bool IsName(absl::string_view text) {
  return !text.empty() && text.size() <= kMostNameBytes && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("._+-", c);
  });
}

// Without a list of that name, `names` stay.
void ReadNames(const Json& answer, const char* list, std::vector<std::string>* names) {
  const auto found = answer.find(list);
  if (found == answer.end() || !found->is_array()) return;
  names->clear();
  for (const Json& name : *found) {
    if (name.is_string()) names->push_back(name.get<std::string>());
  }
}

// Where memory ends, the kernel is to end the runner.
void EndBeforeUs(pid_t pid) {
  const Descriptor file(::open(absl::StrCat("/proc/", pid, "/oom_score_adj").c_str(), O_WRONLY | O_CLOEXEC));
  // Where it may not be written, the kernel chooses by size.
  [[maybe_unused]] const ssize_t n = ::write(file.get(), kOutOfMemoryScore, sizeof(kOutOfMemoryScore) - 1);
}

}  // namespace

std::string ProgramName(const std::vector<std::string>& argv) { return argv[0].substr(argv[0].rfind('/') + 1); }

bool RunnerDescription::operator==(const RunnerDescription& other) const {
  const auto members = [](const RunnerDescription& d) {
    return std::tie(d.runtime, d.version, d.format, d.compile, d.allocator, d.precisions, d.isas, d.profiles);
  };
  return members(*this) == members(other);
}

absl::StatusOr<std::unique_ptr<ProcessRunner>> ProcessRunner::Start(const std::vector<std::string>& argv,
                                                                    const RunnerLimits& limits) {
  if (argv.empty()) return absl::InvalidArgumentError("--runner: no command");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return absl::UnavailableError("no socket for the runner");
  std::unique_ptr<ProcessRunner> runner(new ProcessRunner(limits, ProgramName(argv)));
  runner->channel_ = Descriptor(ends[0]);
  Descriptor theirs(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  StartOptions options;
  options.descriptor = ends[1];
  options.as_descriptor = STDOUT_FILENO;
  options.standard_input = ends[1];
  options.own_group = true;
  COBRA_ASSIGN_OR_RETURN(runner->pid_, StartProgram(argv, options));
  EndBeforeUs(runner->pid_);
  theirs.Close();  // so that the end of the runner is the end of its output
  COBRA_RETURN_IF_ERROR(runner->Describe());
  return runner;
}

ProcessRunner::~ProcessRunner() { Kill(); }

std::string ProcessRunner::Kill() {
  channel_.Close();
  if (pid_ <= 0) return "is not running";
  int status = 0;
  // One that ends by itself says how. Its output closes a moment before it has ended.
  bool ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
  for (int i = 0; i < 20 && !ended; ++i) {
    absl::SleepFor(absl::Milliseconds(5));
    ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
  }
  ::kill(-pid_, SIGKILL);
  if (!ended) ::kill(pid_, SIGKILL);  // it may have left its group
  if (!ended) ::waitpid(pid_, &status, 0);
  pid_ = -1;
  if (!ended) return "was ended";
  if (WIFSIGNALED(status)) return absl::StrCat("ended by signal ", WTERMSIG(status));
  return absl::StrCat("ended with exit status ", WEXITSTATUS(status));
}

absl::Status ProcessRunner::Send(const std::string& line, absl::Time deadline) {
  size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::send(channel_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<size_t>(n);
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR) return absl::UnavailableError("it reads no more requests");
    if (absl::Now() > deadline) return absl::DeadlineExceededError("it did not read the request in time");
    pollfd wait = {channel_.get(), POLLOUT, 0};
    ::poll(&wait, 1, PollTimeoutMs(deadline));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ProcessRunner::ReadLine(absl::Time deadline) {
  char part[1 << 16];
  while (true) {
    if (const size_t end = buffer_.find('\n'); end != buffer_.npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (static_cast<int64_t>(buffer_.size()) > limits_.max_answer_bytes)
      return absl::UnavailableError(LimitMessage("its answer", limits_.max_answer_bytes, "bytes"));
    if (absl::Now() > deadline) return absl::DeadlineExceededError("it did not answer in time");
    pollfd wait = {channel_.get(), POLLIN, 0};
    if (::poll(&wait, 1, PollTimeoutMs(deadline)) <= 0) continue;
    const ssize_t n = ::recv(channel_.get(), part, sizeof(part), 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) return absl::UnavailableError("it closed its output");
    buffer_.append(part, static_cast<size_t>(n));
  }
}

absl::StatusOr<Json> ProcessRunner::Ask(Json request, absl::Duration timeout) {
  const std::string what = TextOf(request, "do");
  if (!alive()) return absl::UnavailableError(absl::StrCat(name_, ": the runner is not running"));
  const int64_t id = next_id_++;
  request["id"] = id;
  const absl::Time deadline = absl::Now() + timeout;
  absl::StatusOr<std::string> line = std::string();
  if (absl::Status sent = Send(absl::StrCat(request.dump(), "\n"), deadline); !sent.ok()) {
    line = std::move(sent);
  } else {
    line = ReadLine(deadline);
  }
  Json answer;
  if (line.ok()) {
    answer = ParseJson<Json>(*line, {.max_entries = 1'000'000});
    const auto answered = answer.is_object() ? answer.find("id") : answer.end();
    if (!answer.is_object() || answered == answer.end() || *answered != id)
      line = absl::UnavailableError(absl::StrCat("it answered ", Excerpt(*line)));
  }
  if (!line.ok()) {
    const std::string how = Kill();
    return absl::Status(line.status().code(),
                        absl::StrCat(name_, ": ", what, ": ", line.status().message(), "; the runner ", how));
  }
  if (answer.contains("unsupported")) return absl::UnimplementedError(TextOf(answer, "unsupported", "unsupported"));
  if (answer.contains("out_of_memory")) return absl::ResourceExhaustedError(TextOf(answer, "out_of_memory"));
  if (answer.contains("error"))
    return absl::InternalError(absl::StrCat(name_, ": ", what, ": ", TextOf(answer, "error", "an error")));
  return answer;
}

absl::Status ProcessRunner::Describe() {
  COBRA_ASSIGN_OR_RETURN(const Json answer, Ask({{"do", "describe"}}, limits_.start));
  description_.runtime = TextOf(answer, "runtime");
  description_.version = TextOf(answer, "version");
  description_.format = TextOf(answer, "format");
  description_.compile = TextOf(answer, "compile", "eager");
  description_.allocator = TextOf(answer, "allocator");
  ReadNames(answer, "precisions", &description_.precisions);
  ReadNames(answer, "isas", &description_.isas);
  const auto profiles = answer.find("profile");
  description_.profiles = profiles != answer.end() && *profiles == Json(true);
  // They become the target's name and the names of files.
  for (const auto& [member, text] : {std::pair("runtime", description_.runtime),
                                     {"version", description_.version},
                                     {"format", description_.format},
                                     {"compile", description_.compile}}) {
    if (IsName(text)) continue;
    return absl::UnavailableError(absl::StrCat(name_, ": describe: the answer needs \"", member, "\" of at most ",
                                               kMostNameBytes, " letters, digits and ._+- (docs/runners.md)"));
  }
  return absl::OkStatus();
}

absl::Status ProcessRunner::Load(const RunnerModel& model) {
  passed_ns_ = timed_ns_ = 0;
  requests_ = 0;
  calls_ = 0;
  threads_ = model.threads;
  timed_again_ = false;
  return Ask({{"do", "load"},
              {"model", model.model},
              {"weights", model.weights},
              {"precision", model.precision},
              {"threads", model.threads},
              {"seed", model.seed}},
             limits_.load)
      .status();
}

absl::Status ProcessRunner::Verify(const std::string& inputs_path, const std::string& outputs_path) {
  return Ask({{"do", "verify"}, {"inputs", inputs_path}, {"outputs", outputs_path}}, limits_.answer).status();
}

absl::StatusOr<std::vector<double>> ProcessRunner::Run(int calls, int batch) {
  const double start_ns = SteadyNowNs();
  COBRA_ASSIGN_OR_RETURN(const Json answer, Ask({{"do", "run"}, {"calls", calls}, {"batch", batch}}, limits_.answer));
  const double passed_ns = SteadyNowNs() - start_ns;
  const auto found = answer.find("ns");
  if (found == answer.end() || !found->is_array() || found->size() != static_cast<size_t>(calls))
    return absl::InternalError(absl::StrCat(name_, ": run: the answer needs \"ns\" with ", calls, " numbers"));
  std::vector<double> ns;
  for (const Json& number : *found) {
    if (!number.is_number() || !(number.get<double>() > 0) || !std::isfinite(number.get<double>()))
      return absl::InternalError(absl::StrCat(name_, ": run: ", number.dump(), " is not a time"));
    ns.push_back(number.get<double>());
  }
  passed_ns_ += passed_ns;
  timed_ns_ += std::accumulate(ns.begin(), ns.end(), 0.0);
  calls_ += static_cast<double>(calls) * batch;
  const double slack_ns = kClockSlackNs + kSlackOfRequestNs * static_cast<double>(++requests_);
  if (std::abs(passed_ns_ - timed_ns_) > passed_ns_ * kClockTolerance + slack_ns) {
    const std::string what = absl::StrCat(name_, ": run: its times add up to ", timed_ns_ / 1e6, " ms, in which ",
                                          passed_ns_ / 1e6, " ms have passed: its clock is wrong, or the core is busy");
    if (std::exchange(timed_again_, true)) return absl::InternalError(what);
    passed_ns_ = timed_ns_ = 0;  // other work on the core delays answers for a while, a wrong clock is always wrong
    requests_ = 0;
    calls_ = 0;
    return Run(calls, batch);
  }
  return ns;
}

absl::Status ProcessRunner::CheckClock() {
  if (clock_checked_) return absl::OkStatus();
  // The first times may have been those of requests, not of calls.
  for (int i = 0; i < kTriesOfClockCheck; ++i) {
    const double of_one_ns = std::max(passed_ns_, timed_ns_) / calls_;
    const double batch = std::clamp(std::ceil(kClockCheckNs / of_one_ns), 1.0, kMostCallsOfClockCheck);
    passed_ns_ = timed_ns_ = 0;
    requests_ = 0;
    calls_ = 0;
    COBRA_RETURN_IF_ERROR(Run(1, static_cast<int>(batch)).status());
    if (std::max(passed_ns_, timed_ns_) > kClockCheckNs * 2 / 3) break;
  }
  clock_checked_ = true;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ProfileEntry>> ProcessRunner::Profile(int calls, int64_t nodes) {
  const double start_ns = SteadyNowNs();
  COBRA_ASSIGN_OR_RETURN(const Json answer, Ask({{"do", "profile"}, {"calls", calls}}, limits_.load));
  const double passed_ns = SteadyNowNs() - start_ns;
  std::vector<ProfileEntry> entries;
  double sum_us = 0;
  int64_t numbers = 0;
  const auto found = answer.find("entries");
  if (found == answer.end() || !found->is_array())
    return absl::InternalError(absl::StrCat(name_, ": profile: the answer needs \"entries\""));
  for (const Json& item : *found) {
    ProfileEntry entry;
    if (!item.is_object()) continue;
    entry.name = TextOf(item, "name");
    if (const auto us = item.find("us"); us != item.end() && us->is_number()) entry.us = us->get<double>();
    if (!(entry.us >= 0 && entry.us <= kMostProfiledUs))
      return absl::InternalError(absl::StrCat(name_, ": profile: ", item["us"].dump(), " is not a time"));
    sum_us += entry.us;
    ++numbers;
    if (const auto calls_of = item.find("calls"); calls_of != item.end() && calls_of->is_array()) {
      for (const Json& call : *calls_of) {
        const int64_t number = call.is_number_integer() ? call.get<int64_t>() : -1;
        if (number < 0 || number >= nodes)
          return absl::InternalError(absl::StrCat(name_, ": profile: ", call.dump(), " is not a call of the network"));
        if (absl::c_linear_search(entry.calls, static_cast<int>(number)))
          return absl::InternalError(absl::StrCat(name_, ": profile: an entry has call ", number, " twice"));
        entry.calls.push_back(static_cast<int>(number));
        ++numbers;
      }
    }
    if (numbers > kMostProfileNumbers)
      return absl::InternalError(LimitMessage(absl::StrCat(name_, ": profile"), kMostProfileNumbers, "numbers"));
    entries.push_back(std::move(entry));
  }
  if (const double ns = sum_us * 1000 * calls; ns > passed_ns * (1 + kClockTolerance) * threads_ + kClockSlackNs) {
    return absl::InternalError(absl::StrCat(name_, ": profile: its times add up to ", ns / 1e6, " ms, in which ",
                                            passed_ns / 1e6, " ms have passed"));
  }
  return entries;
}

absl::StatusOr<int64_t> ProcessRunner::PeakMemoryBytes() {
  COBRA_ASSIGN_OR_RETURN(const Json answer, Ask({{"do", "memory"}}, limits_.answer));
  const auto found = answer.find("peak_bytes");
  if (found == answer.end() || !found->is_number_integer() || found->get<int64_t>() < 0)
    return absl::InternalError(absl::StrCat(name_, ": memory: the answer needs \"peak_bytes\", not negative"));
  return found->get<int64_t>();
}

absl::Status ProcessRunner::Unload() { return Ask({{"do", "unload"}}, limits_.answer).status(); }

}  // namespace cobra::worker
