// A request in a reader: from its message to the reply.
#ifndef COBRA_READER_REQUEST_READER_H_
#define COBRA_READER_REQUEST_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/bytes/wire_format.h"
#include "frontend/python/interpreter_image.h"
#include "graph/graph.h"
#include "reader/channel.h"
#include "reader/needed_pages.h"
#include "reader/reader.pb.h"

namespace cobra::reader {

// A request of the largest size (proto/message_limits.h), and what is around it.
constexpr int64_t kMaxReadRequestBytes = int64_t{40} << 20;

struct ReaderSetup {
  std::vector<std::string> library_roots;
  python::Libraries libraries;                      // the files of library_roots
  std::unique_ptr<python::InterpreterImage> image;  // null: it could not be made
  const PageFinder* pages = nullptr;
};

// Those of a server, with no more address space for objects than the sandbox grants (sandbox.h).
Limits ReaderLimits();

// Takes what it needs of the heap when it is made: before the request comes.
class RequestReader {
 public:
  explicit RequestReader(ReaderSetup* setup) : setup_(*setup) {}
  // Waits for the request on `server`, reads its model, sends the reply. Whether another request
  // may come, and everything is as it was before this one.
  bool AnswerOne(Channel* server);

 private:
  bool CanGoOn();
  absl::Status SendGraph(const graph::Graph& graph, const ReadRequest& request, ReadReply* rest, Channel* server);

  static constexpr size_t kUsualReplyBytes = 128 << 10;
  ReaderSetup& setup_;
  int answered_ = 0;
  WireWriter reply_{kUsualReplyBytes};
};

}  // namespace cobra::reader

#endif  // COBRA_READER_REQUEST_READER_H_
