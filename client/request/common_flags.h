// The flags that all commands of cobra-client have.
#ifndef COBRA_CLIENT_REQUEST_COMMON_FLAGS_H_
#define COBRA_CLIENT_REQUEST_COMMON_FLAGS_H_

#include "absl/status/status.h"
#include "client/client.h"
#include "client/terminal/terminal.h"

namespace cobra::client {

struct CommonFlags {
  ClientOptions client;
  bool json = false;
  bool quiet = false;  // only numbers; no progress, no notes (terminal/progress.h)
  ColorChoice color = ColorChoice::kAuto;
};

// Of the address and the files that a call needs. Called before anything is read or measured, so
// that an invalid address costs no time.
absl::Status CheckServer(const CommonFlags& common);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_REQUEST_COMMON_FLAGS_H_
