#include "server/reader/reader_processes.h"

#include <sys/wait.h>

#include <csignal>
#include <list>
#include <optional>
#include <thread>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/bytes/keyed_hash.h"
#include "base/bytes/wire_format.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "frontend/python/missing_file.h"
#include "frontend/python/reader.h"
#include "proto/graph_proto.h"
#include "proto/parsed_size.h"
#include "proto/status_proto.h"
#include "reader/image_process.h"
#include "reader/library_files.h"
#include "server/reader/kept_readers.h"
#include "server/reader/reader_image.h"

namespace cobra::server {
namespace {

constexpr int64_t kMaxReplyBytes = int64_t{32} << 20;  // as a request with a graph
constexpr int64_t kMaxParsedReplyBytes = int64_t{192} << 20;
constexpr size_t kMaxImages = 16;
// Requests whose imports are known, and what these take: a request of a kilobyte may have 150 KB of
// them.
constexpr size_t kMaxRemembered = 4096, kMaxRememberedBytes = 32 << 20;
constexpr int kMaxImports = 1024;
constexpr int64_t kMaxImportsBytes = 64 << 10;
constexpr absl::Duration kStartTimeout = absl::Seconds(10);
// To end a reader and to fork the next one takes some 10 ms of the kernel's time. A request's own
// prediction goes first, as long as the image has another reader waiting.
constexpr absl::Duration kPredictionGoesFirst = absl::Milliseconds(20);
constexpr size_t kMaxUsed = 8;
// Of one request, until a reader has it: the first may have died while it waited, with its image
// and with the first image, which is started again.
constexpr int kMostTries = 3;

using Imports = google::protobuf::RepeatedPtrField<reader::NeededImport>;

// The imports that a reader reports become a trusted process's work: only names of modules and
// attributes pass.
bool IsName(absl::string_view text) {
  for (absl::string_view part : absl::StrSplit(text, '.')) {
    if (part.empty() || absl::ascii_isdigit(static_cast<unsigned char>(part[0]))) return false;
    for (char c : part) {
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
    }
  }
  return true;
}

bool AreImports(const Imports& imports) {
  if (imports.size() > kMaxImports) return false;
  int64_t bytes = 0;
  for (const reader::NeededImport& import : imports) {
    bytes += static_cast<int64_t>(import.module().size() + import.attribute().size());
    if (!IsName(import.module()) || (!import.whole_module() && !IsName(import.attribute()))) return false;
  }
  return bytes <= kMaxImportsBytes;
}

// What a request has to import.
struct Needs {
  Needs(reader::ImageCommand::Image what, absl::string_view first_torch_version)
      : image(std::move(what)),
        key(KeyedHash(image.SerializeAsString())),
        is_first(image.imports_size() == 0 && image.torch_version() == first_torch_version) {}
  reader::ImageCommand::Image image;
  Hash128 key;
  bool is_first;  // the first image will do
  // Of a whole request: what it gave without these imports. They come early in an image, which a
  // library could notice: the image is trusted once it has given the same.
  std::optional<Hash128> outcome;
  std::weak_ptr<ReaderImage> trusted;
};

Hash128 OutcomeOf(const reader::ReadReply& reply) {
  return KeyedHash(reply.has_graph() ? reply.graph() : absl::StrCat("error ", reply.error().SerializeAsString()));
}

// Texts one after the other with their lengths, so that no two lists of texts give the same bytes.
void Append(absl::string_view text, std::string* bytes) { absl::StrAppend(bytes, text.size(), ":", text); }

// What decides about the imports at the head of a request's own file.
Hash128 HeadSignature(const v1::SourceModel& source) {
  std::string bytes;
  Append(source.torch_version(), &bytes);
  Append(source.file(), &bytes);
  for (const v1::SourceFile& file : source.files()) {
    Append(file.path(), &bytes);
    if (file.path() == source.file()) Append(file.text(), &bytes);
  }
  return KeyedHash(bytes);
}

// The whole request: what decides about its deferred imports too.
Hash128 RequestSignature(const v1::SourceModel& source) { return KeyedHash(source.SerializeAsString()); }

struct Entry {
  Hash128 key;
  std::shared_ptr<ReaderImage> image;
};

// Has answered its request, and ends when it is destroyed.
struct UsedReader {
  std::shared_ptr<ReaderImage> image;
  WaitingReader reader;
  absl::Time since;
};

// Beside its graph, which stays bytes, the usual reply has next to nothing.
bool IsSmallWhenParsed(absl::string_view message) {
  constexpr size_t kLittle = 64 << 10;
  size_t rest = message.size();
  WireField reply, part;
  for (absl::string_view fields = message; !fields.empty();) {
    if (!NextWireField(&fields, &reply)) return false;
    if (reply.number != reader::ReaderMessage::kReplyFieldNumber || reply.kind != WireField::Kind::kBytes) continue;
    for (absl::string_view parts = reply.bytes; !parts.empty();) {
      if (!NextWireField(&parts, &part)) return false;
      if (part.number == reader::ReadReply::kGraphFieldNumber) rest -= part.bytes.size();
    }
  }
  if (rest <= kLittle) return true;
  const ParsedSize size = proto::ParsedSizeOf(message, *reader::ReaderMessage::descriptor(), kMaxParsedReplyBytes);
  return size.well_formed && size.bytes <= kMaxParsedReplyBytes;
}

class ReaderProcessesImpl final : public ReaderProcesses {
 public:
  ReaderProcessesImpl(const ReaderOptions& options, Metrics* metrics)
      : options_(options), metrics_(metrics), replenisher_([this] { ReplenishLoop(); }) {
    for (const std::string& root : options.library_roots)
      libraries_.push_back(std::make_unique<reader::LibraryDirectory>(root));
  }

  ~ReaderProcessesImpl() override {
    {
      absl::MutexLock lock(&mutex_);
      stop_ = true;
    }
    replenisher_.join();
    {
      absl::MutexLock lock(&mutex_);
      images_.clear();
      used_.clear();
      first_ = {};
    }
    if (process_ > 0) ::waitpid(process_, nullptr, 0);  // it ends when its control socket closes
  }

  absl::Status StartFirst() {
    absl::MutexLock lock(&mutex_);
    return StartFirstLocked();
  }

  absl::StatusOr<ReadResult> Read(v1::PredictRequest* model, const GraphLimits& limits,
                                  const CallContext& call) override {
    if (model->has_source()) COBRA_RETURN_IF_ERROR(FindFile(model->mutable_source()));
    return ReadFound(*model, limits, call);
  }

 private:
  // Its file is found. A reader that has ended before it had the request, or with its image, has
  // not ended for it: another one is asked, `more_tries` times at most.
  absl::StatusOr<ReadResult> ReadFound(const v1::PredictRequest& request, const GraphLimits& limits,
                                       const CallContext& call, int more_tries = kMostTries - 1) {
    std::optional<Hash128> new_request;
    std::shared_ptr<Needs> untrusted;
    COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<ReaderImage> image, ImageFor(request, &new_request, &untrusted));
    Asked asked;
    absl::StatusOr<reader::ReadReply> reply = AskKept(request, new_request.has_value(), image, &asked, call);
    if (!reply.ok() && !asked.may_be_at_fault) {
      asked = {};
      if (absl::StatusOr<WaitingReader> reader = image->Take(call.deadline); reader.ok()) {
        asked.is_last = more_tries == 0;
        reply = Ask(request, new_request.has_value(), image, &*reader, &asked, call);
        if (reply.ok() && KeepFor(request, asked, call, image, &*reader)) *reader = {};
        absl::MutexLock lock(&mutex_);
        used_.push_back({image, *std::move(reader), absl::Now()});
      } else {
        reply = reader.status();
      }
    }
    if (!asked.may_be_at_fault && more_tries > 0 && call.Check().ok())
      return ReadFound(request, limits, call, more_tries - 1);
    COBRA_RETURN_IF_ERROR(reply.status());
    if (new_request.has_value()) Learn(*new_request, request.source(), *reply);
    if (untrusted != nullptr && !Trusts(image, OutcomeOf(*reply), request.source(), untrusted.get()))
      return ReadFound(request, limits, call);
    if (reply->has_pages()) image->AddPages(reply->pages());
    if (reply->has_graph()) {
      COBRA_ASSIGN_OR_RETURN(graph::Graph graph, proto::GraphFromWire(reply->graph(), limits));
      // What the reader asked about files is not remembered: an image is made that answers it the
      // next time.
      ReadResult result{std::move(graph), asked.questions == 0, nullptr};
      if (request.has_source()) {
        result.files_unchanged = [weak = std::weak_ptr<ReaderImage>(image)] {
          const std::shared_ptr<ReaderImage> kept = weak.lock();  // without an image nobody knows
          return kept != nullptr && kept->FilesUnchanged(absl::Now());
        };
      }
      return result;
    }
    if (reply->error().code() == 0) return absl::InternalError("a reader sent neither a graph nor an error");
    return proto::StatusFromProto(reply->error());
  }
  struct Asked {
    bool is_last = false;          // no other reader is asked, whatever becomes of this one
    bool may_be_at_fault = false;  // the reader has answered, or the request may have ended it
    int questions = 0;             // that the reader had
    bool was_kept = false;         // the reader has answered other requests before
  };
  // A reader that the call has kept. What ends it may be what earlier requests have left of its
  // limits: then no answer, and nobody is at fault.
  absl::StatusOr<reader::ReadReply> AskKept(const v1::PredictRequest& request, bool with_imports,
                                            const std::shared_ptr<ReaderImage>& image, Asked* asked,
                                            const CallContext& call);
  // Leaves the reader to the call, which may have more requests. One that has asked about files
  // remembers them, and the next answer would not show that it depends on them.
  static bool KeepFor(const v1::PredictRequest& request, const Asked& asked, const CallContext& call,
                      const std::shared_ptr<ReaderImage>& image, WaitingReader* reader) {
    return call.readers != nullptr && request.has_source() && asked.questions == 0 && call.readers->Keep(image, reader);
  }
  void ReplenishLoop();
  bool MustReplenishLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status FindFile(v1::SourceModel* source) const;
  absl::Status StartFirstLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `new_request`: the signature of source whose imports are not known yet. `untrusted`: what the
  // image was made for, if its answer is to be compared.
  absl::StatusOr<std::shared_ptr<ReaderImage>> ImageFor(const v1::PredictRequest& request,
                                                        std::optional<Hash128>* new_request,
                                                        std::shared_ptr<Needs>* untrusted);
  // Ready, or null: then it is being made, or cannot be.
  std::shared_ptr<ReaderImage> ImageOfLocked(const Needs& needs, bool may_make) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::shared_ptr<ReaderImage> FindLocked(const Hash128& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MakeLocked(const Needs& needs) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Learn(Hash128 signature, const v1::SourceModel& source, const reader::ReadReply& reply);
  // Whether an image with what the request needs gives what it gave without it. If not, the request
  // is forgotten.
  bool Trusts(const std::shared_ptr<ReaderImage>& image, const Hash128& outcome, const v1::SourceModel& source,
              Needs* needs);
  absl::StatusOr<reader::ReadReply> Ask(const v1::PredictRequest& request, bool with_imports,
                                        const std::shared_ptr<ReaderImage>& image, WaitingReader* reader, Asked* asked,
                                        const CallContext& call);
  // waitpid's status of the reader; nullopt: nobody knows.
  absl::Status WhyItEnded(const std::optional<int>& status);
  reader::FileAnswer Answer(const reader::FileQuestion& question) const;

  const ReaderOptions options_;
  Metrics* const metrics_;
  std::vector<std::unique_ptr<reader::LibraryDirectory>> libraries_;
  absl::Mutex mutex_;
  pid_t process_ ABSL_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<ReaderImage> first_ ABSL_GUARDED_BY(mutex_);
  std::list<Entry> images_ ABSL_GUARDED_BY(mutex_);  // latest first
  // What requests import, by their whole text and by what decides about their heads.
  absl::flat_hash_map<Hash128, std::shared_ptr<Needs>> needs_ ABSL_GUARDED_BY(mutex_);
  size_t needs_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of those, about: what was learned since they were cleared
  absl::flat_hash_map<Hash128, int> differed_ ABSL_GUARDED_BY(mutex_);  // how often, by the whole text
  absl::flat_hash_set<Hash128> impossible_ ABSL_GUARDED_BY(mutex_);     // keys of images that could not be made
  std::vector<UsedReader> used_ ABSL_GUARDED_BY(mutex_);                // by requests; the replenisher takes them
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread replenisher_;  // last: starts when everything else exists
};

// Forks readers while requests are answered by others. No other thread does so, once the first
// image has begun. While requests come, it looks for work by itself: to wake it would take each of
// them some 40 us in a virtual machine.
void ReaderProcessesImpl::ReplenishLoop() {
  constexpr absl::Duration kPeriod = absl::Milliseconds(1);
  constexpr int kIdlePeriods = 100;
  const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stop_ || !used_.empty(); };
  for (int idle = kIdlePeriods;; ++idle) {
    std::vector<UsedReader> used;
    {
      absl::MutexLock lock(&mutex_);
      if (idle >= kIdlePeriods) mutex_.Await(absl::Condition(&work));
      if (stop_) return;
      if (!used_.empty()) idle = 0;
      if (MustReplenishLocked()) used.swap(used_);
    }
    for (const UsedReader& one : used) one.image->ForkAhead();
    for (const UsedReader& one : used) one.image->AwaitForked();
    used.clear();
    absl::SleepFor(kPeriod);
  }
}

bool ReaderProcessesImpl::MustReplenishLocked() {
  if (used_.empty()) return false;
  return used_.size() >= kMaxUsed || absl::Now() - used_.front().since >= kPredictionGoesFirst ||
         absl::c_any_of(used_, [](const UsedReader& one) { return !one.image->HasWaiting(); });
}

// A `file` that the request does not bring is one of a library: then its full path.
absl::Status ReaderProcessesImpl::FindFile(v1::SourceModel* source) const {
  for (const v1::SourceFile& file : source->files()) {
    if (file.path() == source->file()) return absl::OkStatus();
  }
  if (!IsPathInside(source->file())) {
    return UsageError(absl::StrCat("\"", source->file(), "\": `file` must be a path of the bundle or of a library"));
  }
  for (const auto& library : libraries_) {
    if (!library->IsFile(source->file())) continue;
    source->set_file(library->DisplayName(source->file()));
    return absl::OkStatus();
  }
  std::vector<absl::string_view> files;
  for (const v1::SourceFile& file : source->files()) files.push_back(file.path());
  return python::MissingFileError(std::move(files), source->file());
}

absl::Status ReaderProcessesImpl::StartFirstLocked() {
  if (process_ > 0) {
    // It may hang, or requests may still hold its control socket. It takes its readers with it.
    ::kill(process_, SIGKILL);
    ::waitpid(std::exchange(process_, 0), nullptr, 0);
  }
  COBRA_ASSIGN_OR_RETURN(auto sockets, reader::MakeSocketPair());
  std::vector<std::string> argv = {options_.program.empty() ? SiblingProgram("cobra-reader") : options_.program};
  for (const std::string& root : options_.library_roots) {
    argv.push_back("--library");
    argv.push_back(root);
  }
  if (options_.insecure) argv.push_back("--insecure");
  argv.insert(argv.end(), {"--torch-version", options_.torch_version});
  // Its own process group: after a terminal's Ctrl-C the server ends its readers itself, once it
  // has drained.
  COBRA_ASSIGN_OR_RETURN(process_, StartProgram(argv, {.descriptor = sockets.second.get(),
                                                       .as_descriptor = reader::kControlDescriptor,
                                                       .own_group = true}));
  sockets.second.Close();
  reader::Channel control(std::move(sockets.first));
  const absl::StatusOr<reader::Received> received = control.Receive(4096, absl::Now() + kStartTimeout);
  reader::ImageReport report;
  if (!received.ok() || !report.ParseFromString(received->bytes) || !report.has_started())
    return absl::UnavailableError(absl::StrCat(argv[0], ": did not start"));
  if (!report.started().can_confine()) {
    return absl::FailedPreconditionError(
        "the kernel refuses to confine the processes that read untrusted models (seccomp); --insecure-reader starts "
        "without it");
  }
  first_ = std::make_shared<ReaderImage>(std::move(control), options_.ahead);
  used_.push_back({first_, {}, absl::InfinitePast()});
  return absl::OkStatus();
}

std::shared_ptr<ReaderImage> ReaderProcessesImpl::FindLocked(const Hash128& key) {
  for (auto it = images_.begin(); it != images_.end(); ++it) {
    if (it->key != key) continue;
    if (it->image->gone()) {
      if (it->image->failed()) impossible_.insert(key);
      images_.erase(it);
      return nullptr;
    }
    images_.splice(images_.begin(), images_, it);
    return images_.front().image;
  }
  return nullptr;
}

std::shared_ptr<ReaderImage> ReaderProcessesImpl::ImageOfLocked(const Needs& needs, bool may_make) {
  if (needs.is_first) return nullptr;
  std::shared_ptr<ReaderImage> found = FindLocked(needs.key);
  if (found == nullptr && may_make && !impossible_.contains(needs.key)) MakeLocked(needs);
  return found != nullptr && found->IsReady() ? found : nullptr;
}

absl::StatusOr<std::shared_ptr<ReaderImage>> ReaderProcessesImpl::ImageFor(const v1::PredictRequest& request,
                                                                           std::optional<Hash128>* new_request,
                                                                           std::shared_ptr<Needs>* untrusted) {
  std::shared_ptr<ReaderImage> found, first;
  std::shared_ptr<Needs> whole;
  const Hash128 signature = request.has_source() ? RequestSignature(request.source()) : Hash128();
  {
    absl::MutexLock lock(&mutex_);
    if (first_ == nullptr || first_->gone()) {
      LogWarning("cobra-reader exited; starting it again");
      images_.clear();
      COBRA_RETURN_IF_ERROR(StartFirstLocked());
    }
    first = first_;
    if (request.has_source()) {
      if (const auto of_request = needs_.find(signature); of_request != needs_.end()) {
        whole = of_request->second;
        found = ImageOfLocked(*whole, /*may_make=*/true);
      } else {
        *new_request = signature;
      }
      if (found != nullptr && whole->outcome.has_value() && whole->trusted.lock() != found) *untrusted = whole;
      if (found == nullptr) {
        if (const auto head = needs_.find(HeadSignature(request.source())); head != needs_.end())
          found = ImageOfLocked(*head->second, whole == nullptr || impossible_.contains(whole->key));
      }
    }
  }
  if (found == nullptr) return first;
  if (found->FilesUnchanged(absl::Now())) {
    return found;
  }
  absl::MutexLock lock(&mutex_);
  images_.remove_if([&](const Entry& entry) { return entry.image == found; });
  needs_.erase(signature);  // what it gives now is another matter
  *untrusted = nullptr;
  return first;
}

bool ReaderProcessesImpl::Trusts(const std::shared_ptr<ReaderImage>& image, const Hash128& outcome,
                                 const v1::SourceModel& source, Needs* needs) {
  absl::MutexLock lock(&mutex_);
  if (outcome == *needs->outcome) {
    needs->trusted = image;
    return true;
  }
  const Hash128 signature = RequestSignature(source);
  needs_.erase(signature);
  ++differed_[signature];
  return false;
}

void ReaderProcessesImpl::MakeLocked(const Needs& needs) {
  absl::StatusOr<std::unique_ptr<ReaderImage>> made = first_->Fork(needs.image);
  if (!made.ok()) return;
  images_.push_front({needs.key, *std::move(made)});
  if (images_.size() > kMaxImages) images_.pop_back();
}

void ReaderProcessesImpl::Learn(Hash128 signature, const v1::SourceModel& source, const reader::ReadReply& reply) {
  if (!AreImports(reply.plan()) || !AreImports(reply.needed())) return;
  reader::ImageCommand::Image head;
  head.set_torch_version(source.torch_version().empty() ? options_.torch_version : source.torch_version());
  *head.mutable_imports() = reply.plan();
  reader::ImageCommand::Image whole = head;
  absl::MutexLock lock(&mutex_);
  if (differed_.size() > kMaxRemembered) differed_.clear();
  // A library file may have changed once; after that, it is the imports that come too early.
  if (differed_[signature] <= 1) whole.mutable_imports()->MergeFrom(reply.needed());
  const size_t bytes = head.SpaceUsedLong() + whole.SpaceUsedLong();
  auto of_request = std::make_shared<Needs>(std::move(whole), options_.torch_version);
  of_request->outcome = OutcomeOf(reply);
  if (needs_.size() + 2 > kMaxRemembered || needs_bytes_ + bytes > kMaxRememberedBytes) {
    needs_.clear();
    needs_bytes_ = 0;
  }
  needs_bytes_ += bytes;
  if (impossible_.size() > kMaxRemembered) impossible_.clear();
  needs_.try_emplace(HeadSignature(source), std::make_shared<Needs>(std::move(head), options_.torch_version));
  needs_.try_emplace(signature, std::move(of_request));
}

reader::FileAnswer ReaderProcessesImpl::Answer(const reader::FileQuestion& question) const {
  reader::FileAnswer answer;
  if (question.root() >= libraries_.size()) return answer;
  const reader::LibraryDirectory& library = *libraries_[question.root()];
  switch (question.kind()) {
    case reader::FileQuestion::KIND_READ:
      if (absl::StatusOr<std::string> text = library.Read(question.path()); text.ok()) {
        answer.set_found(true);
        answer.set_text(*std::move(text));
      }
      break;
    case reader::FileQuestion::KIND_IS_FILE: answer.set_found(library.IsFile(question.path())); break;
    case reader::FileQuestion::KIND_IS_DIRECTORY: answer.set_found(library.IsDirectory(question.path())); break;
    case reader::FileQuestion::KIND_LIST:
      if (const absl::StatusOr<std::vector<std::string>> names = library.List(question.path()); names.ok()) {
        answer.set_found(true);
        answer.mutable_names()->Assign(names->begin(), names->end());
      }
      break;
    case reader::FileQuestion::KIND_STAMP:
      answer.set_stamp(library.Stamp(question.path()));
      answer.set_found(answer.stamp() != 0);
      break;
    default: break;
  }
  return answer;
}

absl::StatusOr<reader::ReadReply> ReaderProcessesImpl::Ask(const v1::PredictRequest& request, bool with_imports,
                                                           const std::shared_ptr<ReaderImage>& image,
                                                           WaitingReader* reader, Asked* asked,
                                                           const CallContext& call) {
  reader::ReadRequest message;
  // The message borrows the request: a copy of 32 MiB would be made for nothing.
  message.unsafe_arena_set_allocated_request(const_cast<v1::PredictRequest*>(&request));
  message.set_with_imports(with_imports);
  message.set_with_pages(!asked->was_kept && image->WantsPages());
  message.set_more_may_come(call.readers != nullptr);
  absl::Status status = reader->socket.Send(message, -1, call.deadline);
  (void)message.unsafe_arena_release_request();
  asked->may_be_at_fault = status.ok();
  while (status.ok()) {
    const absl::StatusOr<reader::Received> received =
        reader->socket.Receive(kMaxReplyBytes, call.deadline, [&call] { return call.Stopped(); });
    if (!received.ok()) {
      status = received.status();
      break;
    }
    reader::ReaderMessage answer;
    if (!IsSmallWhenParsed(received->bytes) || !answer.ParseFromString(received->bytes)) {
      status = absl::InternalError("a reader sent a malformed message");
      break;
    }
    if (answer.has_reply()) return std::move(*answer.mutable_reply());
    asked->questions += answer.has_question() ? 1 : 0;
    if (answer.has_question()) status = reader->socket.Send(Answer(answer.question()), -1, call.deadline);
  }
  reader->Kill();
  COBRA_RETURN_IF_ERROR(call.Check());
  if (!absl::IsUnavailable(status) || asked->was_kept || !(asked->may_be_at_fault || asked->is_last)) return status;
  const std::optional<int> ended = image->WaitStatus(reader->process, absl::Now() + absl::Milliseconds(500));
  // Readers end with their image, whose own end may not be seen yet on a busy machine.
  if (!ended.has_value()) asked->may_be_at_fault = false;
  return asked->may_be_at_fault || asked->is_last ? WhyItEnded(ended) : status;
}

absl::StatusOr<reader::ReadReply> ReaderProcessesImpl::AskKept(const v1::PredictRequest& request, bool with_imports,
                                                               const std::shared_ptr<ReaderImage>& image, Asked* asked,
                                                               const CallContext& call) {
  std::optional<WaitingReader> reader;
  if (call.readers != nullptr && request.has_source()) reader = call.readers->Take(image.get());
  if (!reader.has_value()) return absl::UnavailableError("none is kept");
  COBRA_RETURN_IF_ERROR(reader->AwaitReady(call.deadline));
  asked->was_kept = true;
  absl::StatusOr<reader::ReadReply> reply = Ask(request, with_imports, image, &*reader, asked, call);
  if (reply.ok()) (void)KeepFor(request, *asked, call, image, &*reader);
  asked->may_be_at_fault = reply.ok() || !call.Check().ok();
  return reply;
}

absl::Status ReaderProcessesImpl::WhyItEnded(const std::optional<int>& status) {
  const bool memory = status.has_value() && WIFEXITED(*status) && WEXITSTATUS(*status) == reader::kMemoryExitCode;
  const bool time = status.has_value() && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGXCPU;
  const std::string how = !status.has_value()    ? "for an unknown reason"
                          : memory               ? "out of memory"
                          : time                 ? "out of processor time"
                          : WIFSIGNALED(*status) ? absl::StrCat("by signal ", WTERMSIG(*status))
                                                 : absl::StrCat("with exit code ", WEXITSTATUS(*status));
  LogWarning(absl::StrCat("a reader ended ", how));
  if (metrics_ != nullptr) metrics_->ReaderDied(memory ? "memory" : time ? "processor_time" : "crash");
  if (memory || time) {
    return UserError(Diagnostic::Kind::kLimit,
                     absl::StrCat("the model: reading it takes more ", memory ? "memory" : "processor time",
                                  " than a request is allowed"),
                     "read it on your own machine (cobra-client --send graph)");
  }
  return absl::InternalError(
      absl::StrCat("the process that read the model ended ", how, "; please report this with the model"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ReaderProcesses>> ReaderProcesses::Start(const ReaderOptions& options,
                                                                        Metrics* metrics) {
  auto readers = std::make_unique<ReaderProcessesImpl>(options, metrics);
  COBRA_RETURN_IF_ERROR(readers->StartFirst());
  return readers;
}

}  // namespace cobra::server
