// glibc keeps what a large request has freed: 400 MB after a few of them. It is returned to the system when the request
// has ended.
#ifndef COBRA_SERVER_MEMORY_TRIM_H_
#define COBRA_SERVER_MEMORY_TRIM_H_

#include <cstdint>

#include "absl/time/time.h"

namespace cobra::server {

// A request has taken this much. From any thread.
void NoteRequestBytes(int64_t bytes);
// Returns free memory to the system if a large request was noted a second ago or earlier, and not since the last time.
// Takes some milliseconds. From one thread.
void TrimMemory(absl::Time now);

}  // namespace cobra::server

#endif  // COBRA_SERVER_MEMORY_TRIM_H_
