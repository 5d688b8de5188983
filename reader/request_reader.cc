#include "reader/request_reader.h"

#include <sys/resource.h>

#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "frontend/model_source.h"
#include "frontend/python/import_plan.h"
#include "proto/graph_proto.h"
#include "proto/model_source_proto.h"
#include "proto/status_proto.h"

namespace cobra::reader {
namespace {

void Fill(const python::ImportList& imports, google::protobuf::RepeatedPtrField<NeededImport>* out) {
  for (const python::Importer::Needed& needed : imports) {
    NeededImport* import = out->Add();
    import->set_module(needed.module);
    import->set_attribute(needed.attribute);
    import->set_whole_module(needed.whole_module);
  }
}

// A reader is killed for the processor time of all its requests, and what they leave to malloc
// counts as its memory. A request that ends it for their sake is read again by another one
// (server/reader/reader_processes.cc).
constexpr int kMostRequests = 200;
constexpr double kMostProcessorSeconds = 1;

double ProcessorSeconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

absl::StatusOr<graph::Graph> ReadSource(const python::SourceRequest& request, ReaderSetup* setup, const Limits& limits,
                                        bool with_imports, ReadReply* reply) {
  if (with_imports) Fill(python::PlanImports(request), reply->mutable_plan());
  std::unique_ptr<python::Machine> fresh;
  python::Machine* machine = nullptr;
  if (setup->image != nullptr && setup->image->IsUsable(request, limits)) {
    machine = &setup->image->Start(request, limits);
  } else {
    // Its address space is what the new machine's takes: the sandbox has no room for both
    // (SandboxLimits).
    setup->image.reset();
    COBRA_ASSIGN_OR_RETURN(fresh, python::NewMachine(setup->libraries, request.torch_version, request.bundle, limits));
    machine = fresh.get();
  }
  absl::StatusOr<graph::Graph> graph = python::ReadPythonModelOn(machine, request);
  if (with_imports) Fill(machine->interpreter->importer().needed(), reply->mutable_needed());
  (void)fresh.release();  // the process ends soon; nobody needs this memory back
  return graph;
}

absl::StatusOr<graph::Graph> Read(ReadRequest* message, ReaderSetup* setup, ReadReply* reply) {
  Limits limits = ReaderLimits();
  limits.wall_time_ms = 0;  // the server ends this process at the request's deadline
  COBRA_ASSIGN_OR_RETURN(frontend::ModelSource source, proto::TakeModelSource(message->mutable_request(), limits));
  auto* program = std::get_if<python::SourceRequest>(&source);
  if (program == nullptr) return frontend::ReadModel(std::move(source), limits);
  program->library_roots = setup->library_roots;
  return ReadSource(*program, setup, limits, message->with_imports(), reply);
}

}  // namespace

Limits ReaderLimits() {
  Limits limits;
  limits.memory_spare_bytes = int64_t{64} << 20;
  return limits;
}

// The graph is written as the part of the reply that it is; a message of it would be a copy.
absl::Status RequestReader::SendGraph(const graph::Graph& graph, const ReadRequest& request, ReadReply* rest,
                                      Channel* server) {
  reply_.Clear();
  proto::WriteGraph(graph, &reply_);
  reply_.Message(ReadReply::kGraphFieldNumber, 0);
  if (request.with_pages()) PagesToProto(setup_.pages->Find(), rest->mutable_pages());
  if (rest->ByteSizeLong() > 0) reply_.Raw(rest->SerializeAsString());
  reply_.Message(ReaderMessage::kReplyFieldNumber, 0);
  reply_.Fixed32(static_cast<uint32_t>(reply_.size()));
  return server->SendFramed(reply_.bytes());
}

bool RequestReader::AnswerOne(Channel* server) {
  const absl::StatusOr<Received> received = server->Receive(kMaxReadRequestBytes);
  ReadRequest request;
  if (!received.ok() || !request.ParseFromString(received->bytes)) return false;
  const bool more_may_come = request.more_may_come() && request.request().has_source();
  ReaderMessage message;
  ReadReply* reply = message.mutable_reply();
  const absl::StatusOr<graph::Graph> graph = Read(&request, &setup_, reply);
  absl::Status sent;
  if (graph.ok()) {
    sent = SendGraph(*graph, request, reply, server);
  } else {
    proto::StatusToProto(graph.status(), reply->mutable_error());
    if (request.with_pages()) PagesToProto(setup_.pages->Find(), reply->mutable_pages());
    sent = server->Send(message);
  }
  if (!more_may_come) return false;
  if (sent.ok() && CanGoOn()) return true;
  server->Close();  // the server waits for the next report, or for this
  return false;
}

// Files of other formats use nothing of the image.
bool RequestReader::CanGoOn() {
  return ++answered_ < kMostRequests && ProcessorSeconds() < kMostProcessorSeconds && setup_.image != nullptr &&
         setup_.image->Rollback();
}

}  // namespace cobra::reader
