#include "server/rpc/reflection.h"

#include <grpc/status.h>

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/bytes/wire_format.h"
#include "base/text/limit_message.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "proto/grpc_status.h"
#include "server/lanes/rpcs.h"
#include "server/rpc/message_bytes.h"
#include "server/rpc/single_request_call.h"

namespace cobra::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

constexpr size_t kMaxRequestBytes = 4096;  // names of symbols and files

// Fields of ServerReflectionRequest and ServerReflectionResponse. Both versions have the same.
enum RequestField { kHost = 1, kFileByName = 3, kFileOfSymbol, kFileOfExtension, kExtensionsOfType, kListServices };
enum ResponseField { kValidHost = 1, kOriginalRequest, kFiles = 4, kExtensionNumbers, kServices, kError };

void WriteError(grpc_status_code code, const std::string& message, WireWriter* writer) {
  const size_t end = writer->size();
  writer->Text(2, message);
  writer->Number(1, static_cast<uint64_t>(code));
  writer->Message(kError, end);
}

void WriteNotFound(absl::string_view what, WireWriter* writer) {
  WriteError(GRPC_STATUS_NOT_FOUND, absl::StrCat(what, ": is not part of this API"), writer);
}

// A file before those that it imports.
void AddFile(const FileDescriptor* file, std::set<const FileDescriptor*>* seen, std::vector<std::string>* files) {
  if (!seen->insert(file).second) return;
  google::protobuf::FileDescriptorProto message;
  file->CopyTo(&message);
  files->push_back(message.SerializeAsString());
  for (int i = 0; i < file->dependency_count(); ++i) AddFile(file->dependency(i), seen, files);
}

void WriteFile(const FileDescriptor* file, absl::string_view name, WireWriter* writer) {
  if (file == nullptr) return WriteNotFound(name, writer);
  std::set<const FileDescriptor*> seen;
  std::vector<std::string> files;
  AddFile(file, &seen, &files);
  const size_t end = writer->size();
  for (auto each = files.rbegin(); each != files.rend(); ++each) writer->Text(1, *each);
  writer->Message(kFiles, end);
}

void WriteExtensionNumbers(const std::string& type, WireWriter* writer) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const Descriptor* message = pool.FindMessageTypeByName(type);
  if (message == nullptr) return WriteNotFound(type, writer);
  std::vector<const FieldDescriptor*> extensions;
  pool.FindAllExtensions(message, &extensions);
  const size_t end = writer->size();
  const size_t numbers = writer->size();
  for (const FieldDescriptor* each : extensions) writer->Varint(static_cast<uint64_t>(each->number()));
  if (!extensions.empty()) writer->Message(2, numbers);
  writer->Text(1, type);
  writer->Message(kExtensionNumbers, end);
}

void WriteServices(WireWriter* writer) {
  std::set<absl::string_view> names = {"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                       "grpc.reflection.v1alpha.ServerReflection"};
  for (const RpcInfo& rpc : kRpcs) names.insert(rpc.service);
  const size_t end = writer->size();
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    const size_t service = writer->size();
    writer->Text(1, *name);
    writer->Message(1, service);
  }
  writer->Message(kServices, end);
}

// `bytes`: of an ExtensionRequest.
void WriteFileOfExtension(absl::string_view bytes, WireWriter* writer) {
  std::string type;
  int number = 0;
  WireField field;
  while (!bytes.empty() && NextWireField(&bytes, &field)) {
    if (field.number == 1) type = std::string(field.bytes);
    if (field.number == 2) number = static_cast<int>(field.value);
  }
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  const Descriptor* message = pool.FindMessageTypeByName(type);
  const FieldDescriptor* extension = message == nullptr ? nullptr : pool.FindExtensionByNumber(message, number);
  WriteFile(extension == nullptr ? nullptr : extension->file(), absl::StrCat(type, ", extension ", number), writer);
}

}  // namespace

std::string Reflection::Answer(absl::string_view request) {
  WireWriter writer(4096);
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  std::string host;
  WireField asked;
  for (absl::string_view rest = request; !rest.empty();) {
    WireField field;
    if (!NextWireField(&rest, &field)) return "";
    if (field.number == kHost && field.kind == WireField::Kind::kBytes) host = std::string(field.bytes);
    if (field.number >= kFileByName && field.number <= kListServices && field.kind == WireField::Kind::kBytes)
      asked = field;  // of a oneof the last one counts
  }
  const std::string text(asked.bytes);
  switch (asked.number) {
    case kFileByName: WriteFile(pool.FindFileByName(text), text, &writer); break;
    case kFileOfSymbol: WriteFile(pool.FindFileContainingSymbol(text), text, &writer); break;
    case kFileOfExtension: WriteFileOfExtension(asked.bytes, &writer); break;
    case kExtensionsOfType: WriteExtensionNumbers(text, &writer); break;
    case kListServices: WriteServices(&writer); break;
    default: WriteError(GRPC_STATUS_INVALID_ARGUMENT, "the request: asks for nothing", &writer);
  }
  writer.Text(kOriginalRequest, request);
  writer.TextUnlessEmpty(kValidHost, host);
  return std::string(writer.bytes());
}

// Takes a message when the one before is answered.
class ReflectionCall final : public SingleRequestCall {
 public:
  ReflectionCall(Reflection* reflection, Arrivals* arrivals, grpc::CallbackServerContext* context)
      : SingleRequestCall(arrivals, context), reflection_(reflection) {}

  void Start() {
    if (++reflection_->open_calls_ > reflection_->max_calls_) {
      return Lost(absl::ResourceExhaustedError(
          LimitMessage("server reflection", int64_t{reflection_->max_calls_}, "open calls")));
    }
    AwaitRequest();
  }

  void Received() override {
    if (request().Length() > kMaxRequestBytes)
      return Lost(absl::ResourceExhaustedError(LimitMessage("the request", int64_t{kMaxRequestBytes}, "bytes")));
    const std::string answer = Reflection::Answer(TextOf(request()));
    if (answer.empty()) return Lost(absl::InvalidArgumentError("the request: is not a ServerReflectionRequest"));
    message_ = BufferOf(answer);
    StartWrite(&message_);
  }
  void OnWriteDone(bool ok) override {
    has_answered_ = true;
    ok ? AwaitRequest() : Lost(absl::CancelledError("the caller disconnected"));
  }
  void Lost(const absl::Status& why) override {
    // The caller has sent all that it wanted to know.
    const bool is_end = has_answered_ && absl::IsInvalidArgument(why);
    Finish(proto::ToGrpcStatus(is_end ? absl::OkStatus() : why));
  }
  void OnDone() override {
    --reflection_->open_calls_;
    delete this;
  }

 private:
  Reflection* const reflection_;
  grpc::ByteBuffer message_;
  bool has_answered_ = false;
};

Reflection::Reflection(int max_calls, Arrivals* arrivals) : max_calls_(max_calls) {
  for (const char* version : {"v1", "v1alpha"}) {
    BytesService::Answer(absl::StrCat("/grpc.reflection.", version, ".ServerReflection/ServerReflectionInfo"),
                         [this, arrivals](grpc::CallbackServerContext* context) -> BytesReactor* {
                           auto* call = new ReflectionCall(this, arrivals, context);
                           call->Start();
                           return call;
                         });
  }
}

}  // namespace cobra::server
