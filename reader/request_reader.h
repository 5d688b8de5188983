// One request in a reader: from its message to the reply. After that the process ends.
#ifndef COBRA_READER_REQUEST_READER_H_
#define COBRA_READER_REQUEST_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/python/interpreter_image.h"
#include "reader/channel.h"
#include "reader/needed_pages.h"
#include "reader/reader.pb.h"

namespace cobra::reader {

// A request of the largest size (proto/message_limits.h), and what is around it.
constexpr int64_t kMaxReadRequestBytes = int64_t{40} << 20;

struct ReaderSetup {
  std::vector<std::string> library_roots;
  python::Libraries libraries;                // the files of library_roots
  python::InterpreterImage* image = nullptr;  // null: it could not be made
  const PageFinder* pages = nullptr;
};

// Waits for the request on `server`, reads its model, sends the reply.
void ReadOneRequest(Channel* server, const ReaderSetup& setup);

}  // namespace cobra::reader

#endif  // COBRA_READER_REQUEST_READER_H_
