#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "base/file/descriptor.h"
#include "base/status_macros.h"
#include "store/sql/change_listener.h"
#include "store/sql/sql.h"
#include "store/sql/sql_postgres_connection.h"

namespace cobra::store {
namespace {

// libpq is only asked for what does not block, but for the look-up of a host's name when it
// connects.
class PostgresListener final : public ChangeListener {
 public:
  PostgresListener(absl::string_view url, const ListenerOptions& options)
      : url_(url), name_(PostgresName(url)), options_(options), cancelled_(::eventfd(0, EFD_CLOEXEC)) {}

  absl::Status Connect(absl::Time deadline) override {
    const PostgresParameters parameters(url_, "cobra-listener", deadline - absl::Now());
    connection_.reset(PQconnectStartParams(parameters.keys(), parameters.values(), /*expand_dbname=*/1));
    if (PQstatus(connection_.get()) == CONNECTION_BAD) return Lost();
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
      if (next == PGRES_POLLING_FAILED) return Lost();
      COBRA_RETURN_IF_ERROR(Answered(next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline));
      next = PQconnectPoll(connection_.get());
    }
    PreparePostgresConnection(connection_.get());
    return Command(absl::StrCat("LISTEN ", kPostgresChannel), deadline);
  }

  absl::StatusOr<bool> Wait(absl::Time deadline) override {
    while (true) {
      if (PQconsumeInput(connection_.get()) == 0) return Lost();
      if (TakeNotifications()) return true;
      if (absl::Now() >= deadline) return false;
      const absl::Time ask_at = heard_ + options_.silence;
      COBRA_ASSIGN_OR_RETURN(const bool any, Poll(POLLIN, std::min(deadline, ask_at)));
      if (!any && absl::Now() >= ask_at) COBRA_RETURN_IF_ERROR(Command("", absl::Now() + options_.silence));
    }
  }

  void Cancel() override {
    const uint64_t one = 1;
    const ssize_t ignored = ::write(cancelled_.get(), &one, sizeof(one));  // never read: it stays readable
    (void)ignored;
  }

 private:
  bool TakeNotifications() {
    bool any = false;
    while (const std::unique_ptr<PGnotify, PostgresDeleter> notification{PQnotifies(connection_.get())}) any = true;
    if (any) heard_ = absl::Now();
    return any;
  }

  // Sends `sql` and waits for its end.
  absl::Status Command(const std::string& sql, absl::Time deadline) {
    PGconn* const connection = connection_.get();
    if (PQsendQuery(connection, sql.c_str()) != 1) return Lost();
    while (true) {
      int unsent = 0;
      while ((unsent = PQflush(connection)) == 1 || (unsent == 0 && PQisBusy(connection) == 1)) {
        COBRA_RETURN_IF_ERROR(Answered(unsent == 1 ? POLLIN | POLLOUT : POLLIN, deadline));
        if (PQconsumeInput(connection) == 0) return Lost();
      }
      if (unsent < 0) return Lost();
      const PostgresResult result(PQgetResult(connection));
      if (result == nullptr) break;
      const ExecStatusType status = PQresultStatus(result.get());
      if (status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY) return Lost();
    }
    heard_ = absl::Now();
    return absl::OkStatus();
  }

  absl::Status Answered(int events, absl::Time deadline) {
    COBRA_ASSIGN_OR_RETURN(const bool any, Poll(events, deadline));
    return any ? absl::OkStatus() : absl::UnavailableError(absl::StrCat(name_, ": does not answer"));
  }

  // Whether the connection is ready for one of `events` before the deadline.
  absl::StatusOr<bool> Poll(int events, absl::Time deadline) {
    while (true) {
      pollfd waiting[] = {{cancelled_.get(), POLLIN, 0}, {PQsocket(connection_.get()), static_cast<short>(events), 0}};
      // Rounded up: no busy loop in the last millisecond.
      const int64_t left_ms = absl::ToInt64Milliseconds(absl::Ceil(deadline - absl::Now(), absl::Milliseconds(1)));
      const int ready = ::poll(waiting, 2, static_cast<int>(std::clamp<int64_t>(left_ms, 0, 60'000)));
      if (ready < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "poll");
      if (ready > 0 && waiting[0].revents != 0) return absl::CancelledError("cancelled");
      if (ready > 0) return true;
      if (absl::Now() >= deadline) return false;
    }
  }

  absl::Status Lost() const {
    const char* const why = connection_ == nullptr ? "no memory" : PQerrorMessage(connection_.get());
    return absl::UnavailableError(absl::StrCat(name_, ": ", absl::StripSuffix(why, "\n")));
  }

  const std::string url_;   // with the password: never in a message
  const std::string name_;  // for messages
  const ListenerOptions options_;
  const Descriptor cancelled_;  // readable once Cancel() was called
  PostgresConnection connection_;
  absl::Time heard_;  // when the server last answered or notified
};

}  // namespace

std::unique_ptr<ChangeListener> MakePostgresListener(absl::string_view url, const ListenerOptions& options) {
  return std::make_unique<PostgresListener>(url, options);
}

std::unique_ptr<ChangeListener> MakeChangeListener(absl::string_view location, const ListenerOptions& options) {
  return IsPostgres(location) ? MakePostgresListener(location, options) : MakeSqliteListener(location, options);
}

}  // namespace cobra::store
