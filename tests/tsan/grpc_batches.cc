// Tells ThreadSanitizer that gRPC runs a batch's callback after the batch was started, OnDone()
// after all else of its call, and that a server which has shut down runs none of these any more.
// Debian's gRPC is not compiled with it, and hands work from thread to thread without locks. A
// library for LD_PRELOAD (scripts/test-long.sh tsan):
// it stands before gRPC's functions and calls them.
#include <grpc/grpc.h>
#include <link.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#define private public  // ServerCallbackCall::CallOnDone
#include <grpcpp/support/server_callback.h>
#undef private

#include "tests/tsan/happens_before.h"

namespace {

char all_calls = 0;  // its address stands for them

bool IsCode(const void* address) {
  const auto find = [](dl_phdr_info* info, size_t, void* wanted) {
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      const uint64_t at = reinterpret_cast<uint64_t>(wanted) - info->dlpi_addr;
      if ((part.p_flags & PF_X) != 0 && at >= part.p_vaddr && at < part.p_vaddr + part.p_memsz) return 1;
    }
    return 0;
  };
  return ::dl_iterate_phdr(find, const_cast<void*>(address)) != 0;
}

// What gRPC calls instead of the functor that a callback's tag is.
struct OrderedFunctor {
  explicit OrderedFunctor(grpc_completion_queue_functor* original) : functor(*original), original(original) {
    functor.functor_run = &Run;
  }
  static void Run(grpc_completion_queue_functor* functor, int ok) {
    auto* ordered = reinterpret_cast<OrderedFunctor*>(functor);
    grpc_completion_queue_functor* const original = ordered->original;
    delete ordered;
    Acquire(original);
    original->functor_run(original, ok);
    Release(&all_calls);
  }

  grpc_completion_queue_functor functor;  // first: gRPC knows the address of this alone
  grpc_completion_queue_functor* const original;
};

// A completion queue of callbacks has functors for tags, and these begin with a function's address.
// Any other tag is the caller's own.
OrderedFunctor* OrderedOrNull(void* tag) {
  if (tag == nullptr) return nullptr;
  auto* functor = static_cast<grpc_completion_queue_functor*>(tag);
  return IsCode(reinterpret_cast<void*>(functor->functor_run)) ? new OrderedFunctor(functor) : nullptr;
}

}  // namespace

// On a thread of its own, which ThreadSanitizer knows to begin now.
void grpc::internal::ServerCallbackCall::ScheduleOnDone(bool) {
  // Others have counted it down, which gRPC's own code does unseen.
  Acquire(&callbacks_outstanding_);
  Acquire(&all_calls);
  std::thread([this] {
    CallOnDone();
    Release(&all_calls);
  }).detach();
}

extern "C" {

// The last thing that a server does when it shuts down.
void grpc_completion_queue_shutdown(grpc_completion_queue* queue) {
  static const auto next = Next(&grpc_completion_queue_shutdown, "grpc_completion_queue_shutdown");
  Acquire(&all_calls);
  next(queue);
  Acquire(&all_calls);
}

grpc_call_error grpc_call_start_batch(grpc_call* call, const grpc_op* ops, size_t nops, void* tag, void* reserved) {
  static const auto next = Next(&grpc_call_start_batch, "grpc_call_start_batch");
  OrderedFunctor* const ordered = OrderedOrNull(tag);
  Release(tag);
  Release(&all_calls);
  const grpc_call_error error = next(call, ops, nops, ordered != nullptr ? &ordered->functor : tag, reserved);
  if (error != GRPC_CALL_OK) delete ordered;
  return error;
}

grpc_event grpc_completion_queue_next(grpc_completion_queue* queue, gpr_timespec deadline, void* reserved) {
  static const auto next = Next(&grpc_completion_queue_next, "grpc_completion_queue_next");
  const grpc_event event = next(queue, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) Acquire(event.tag);
  return event;
}

grpc_event grpc_completion_queue_pluck(grpc_completion_queue* queue, void* tag, gpr_timespec deadline, void* reserved) {
  static const auto next = Next(&grpc_completion_queue_pluck, "grpc_completion_queue_pluck");
  const grpc_event event = next(queue, tag, deadline, reserved);
  if (event.type == GRPC_OP_COMPLETE) Acquire(event.tag);
  return event;
}

}  // extern "C"
