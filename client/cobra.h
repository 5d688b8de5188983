// The client library, for programs outside this tree: installed as <cobra/client.h>, with the CMake
// package `cobra` (target cobra::client). docs/api.md, "From C++", has an example.
//
// cobra::client::Client is a connection: Connect() does not wait, every call has a deadline and is
// retried as docs/operations.md says, and errors are values. It may be used from several threads.
// Messages are those of cobra.v1 (proto/cobra/v1/*.proto, installed beside it): latencies are in
// microseconds, sizes in bytes.
#ifndef COBRA_CLIENT_COBRA_H_
#define COBRA_CLIENT_COBRA_H_

#include "client/client.h"

#endif  // COBRA_CLIENT_COBRA_H_
