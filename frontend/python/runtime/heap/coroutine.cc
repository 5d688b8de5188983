#include "frontend/python/runtime/heap/coroutine.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/process/address_space.h"
#include "base/sanitizer.h"
#ifdef COBRA_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#ifdef COBRA_OWN_STACK_SWITCH
// void cobra_switch_stack(void** from, void* to) pushes the callee-saved registers and stores the
// stack pointer in *from. Then it takes `to` as stack pointer and pops the registers. A fresh stack
// begins in cobra_start_stack, which calls Entry(self). Both functions have unwind information, so
// that a stack trace ends at the coroutine's first frame.
extern "C" void cobra_switch_stack(void** from, void* to);
extern "C" void cobra_start_stack();

#ifdef __x86_64__
asm(R"(
.text
.globl cobra_switch_stack
.hidden cobra_switch_stack
.type cobra_switch_stack, @function
cobra_switch_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
.size cobra_switch_stack, .-cobra_switch_stack

.globl cobra_start_stack
.hidden cobra_start_stack
.type cobra_start_stack, @function
cobra_start_stack:
  .cfi_startproc
  .cfi_undefined rip
  endbr64
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
.size cobra_start_stack, .-cobra_start_stack
)");
#else
asm(R"(
.text
.globl cobra_switch_stack
.hidden cobra_switch_stack
.type cobra_switch_stack, %function
cobra_switch_stack:
  .cfi_startproc
  hint #34
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .cfi_endproc
.size cobra_switch_stack, .-cobra_switch_stack

.globl cobra_start_stack
.hidden cobra_start_stack
.type cobra_start_stack, %function
cobra_start_stack:
  .cfi_startproc
  .cfi_undefined x30
  hint #34
  mov x0, x19
  blr x20
  brk #0
  .cfi_endproc
.size cobra_start_stack, .-cobra_start_stack
)");
#endif
#endif  // COBRA_OWN_STACK_SWITCH

namespace cobra::python {

std::unique_ptr<Coroutine> Coroutine::Create(size_t stack_bytes) {
  // Pages are committed when touched. Below the stack one stays inaccessible in case every other
  // guard fails.
  const size_t guard_bytes = PageBytes();
  void* mapped = mmap(nullptr, guard_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  mprotect(mapped, guard_bytes, PROT_NONE);
  std::unique_ptr<Coroutine> c(new Coroutine());
  c->stack_ = static_cast<char*>(mapped) + guard_bytes;
  c->stack_bytes_ = stack_bytes;
  return c;
}

Coroutine::~Coroutine() { munmap(static_cast<char*>(stack_) - PageBytes(), PageBytes() + stack_bytes_); }

void Coroutine::Trim(size_t kept_bytes) {
  if (stack_bytes_ > kept_bytes) madvise(stack_, (stack_bytes_ - kept_bytes) & ~(PageBytes() - 1), MADV_DONTNEED);
}

void Coroutine::RunToEnd() {
#ifdef COBRA_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &resumer_stack_, &resumer_stack_bytes_);
#endif
  body_();
  finished_ = true;
#ifdef COBRA_ASAN
  __sanitizer_start_switch_fiber(nullptr, resumer_stack_, resumer_stack_bytes_);
#endif
  Switch(&self_, &resumer_);
}

#ifdef COBRA_OWN_STACK_SWITCH

void Coroutine::Entry(Coroutine* self) { self->RunToEnd(); }

void Coroutine::Switch(Context* from, Context* to) { cobra_switch_stack(from, *to); }

void Coroutine::Start(std::function<void()> body) {
  body_ = std::move(body);
  finished_ = false;
  // The values that the first cobra_switch_stack pops. Both ABIs require the stack pointer to be
  // aligned to 16 bytes in cobra_start_stack.
  auto* top = reinterpret_cast<void**>(static_cast<char*>(stack_) + stack_bytes_) - 4;
  auto* entry = reinterpret_cast<void*>(&Coroutine::Entry);
  auto* start = reinterpret_cast<void*>(&cobra_start_stack);
#ifdef __x86_64__
  void* const saved[] = {/*r15*/ nullptr, /*r14*/ nullptr, /*r13*/ entry, /*r12*/ this,
                         /*rbx*/ nullptr, /*rbp*/ nullptr, start};
#else
  void* saved[20] = {/*x19*/ this, /*x20*/ entry};
  saved[11] = start;  // x30
#endif
  self_ = top - sizeof(saved) / sizeof(saved[0]);
  std::memcpy(self_, saved, sizeof(saved));
}

#else

void Coroutine::Entry(unsigned high, unsigned low) {
  reinterpret_cast<Coroutine*>(static_cast<uintptr_t>(high) << 32 | low)->RunToEnd();
}

void Coroutine::Switch(Context* from, Context* to) { swapcontext(from, to); }

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

#endif  // COBRA_OWN_STACK_SWITCH

void Coroutine::Resume() {
#ifdef COBRA_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_, stack_bytes_);
#endif
  Switch(&resumer_, &self_);
#ifdef COBRA_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void Coroutine::Suspend() {
#ifdef COBRA_ASAN
  __sanitizer_start_switch_fiber(&fake_stack_, resumer_stack_, resumer_stack_bytes_);
#endif
  Switch(&self_, &resumer_);
#ifdef COBRA_ASAN
  __sanitizer_finish_switch_fiber(fake_stack_, &resumer_stack_, &resumer_stack_bytes_);
#endif
}

}  // namespace cobra::python
