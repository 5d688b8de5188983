#include "frontend/python/runtime/coroutine.h"

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define COBRA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COBRA_ASAN 1
#endif
#endif
#ifdef COBRA_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace cobra::python {

std::unique_ptr<Coroutine> Coroutine::Create(size_t stack_bytes) {
  // Pages are committed when touched; the lowest one stays inaccessible in case every other guard fails.
  void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return nullptr;
  mprotect(stack, 4096, PROT_NONE);
  std::unique_ptr<Coroutine> c(new Coroutine());
  c->stack_ = stack;
  c->stack_bytes_ = stack_bytes;
  return c;
}

Coroutine::~Coroutine() { munmap(stack_, stack_bytes_); }

void Coroutine::Entry(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Coroutine*>(static_cast<uintptr_t>(high) << 32 | low);
#ifdef COBRA_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &self->resumer_stack_, &self->resumer_stack_bytes_);
#endif
  self->body_();
  self->finished_ = true;
#ifdef COBRA_ASAN
  __sanitizer_start_switch_fiber(nullptr, self->resumer_stack_, self->resumer_stack_bytes_);
#endif
  setcontext(&self->resumer_);
}

void Coroutine::Start(std::function<void()> body) {
  body_ = std::move(body);
  finished_ = false;
  getcontext(&self_);
  self_.uc_stack.ss_sp = stack_;
  self_.uc_stack.ss_size = stack_bytes_;
  self_.uc_link = nullptr;
  auto address = reinterpret_cast<uintptr_t>(this);
  makecontext(&self_, reinterpret_cast<void (*)()>(&Coroutine::Entry), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
}

void Coroutine::Resume() {
#ifdef COBRA_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_, stack_bytes_);
#endif
  swapcontext(&resumer_, &self_);
#ifdef COBRA_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void Coroutine::Suspend() {
#ifdef COBRA_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, resumer_stack_, resumer_stack_bytes_);
#endif
  swapcontext(&self_, &resumer_);
#ifdef COBRA_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &resumer_stack_, &resumer_stack_bytes_);
#endif
}

}  // namespace cobra::python
