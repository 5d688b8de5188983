// A separate native stack, for running the interpreter (Interpreter::Run) and for the body of each
// generator: the evaluator recurses on the native stack, so a generator that yields must keep its
// part of it.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_COROUTINE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_COROUTINE_H_

#include <cstddef>
#include <functional>
#include <memory>

// swapcontext() saves the signal mask with a system call at every switch; nothing here changes it.
// So on these processors a few instructions in coroutine.cc switch the registers, and ucontext does
// it elsewhere. The thread sanitizer knows only ucontext.
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_THREAD__)
#define COBRA_OWN_STACK_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace cobra::python {

class Coroutine {
 public:
  // nullptr if the system has no address space left.
  static std::unique_ptr<Coroutine> Create(size_t stack_bytes);
  ~Coroutine();

  // Starts `body` on this stack at the next Resume. REQUIRES: finished().
  void Start(std::function<void()> body);
  // Switches to the body until it suspends or ends.
  void Resume();
  // Called in the body: switches back to the resumer.
  void Suspend();
  bool finished() const { return finished_; }
  // Releases the stack memory of a deep recursion, except for the first `kept_bytes`. REQUIRES:
  // finished().
  void Trim(size_t kept_bytes);
  const char* stack_low() const { return static_cast<const char*>(stack_); }

 private:
  Coroutine() = default;
#ifdef COBRA_OWN_STACK_SWITCH
  static void Entry(Coroutine* self);
  using Context = void*;  // the stack pointer, below it the registers that a callee must keep
#else
  static void Entry(unsigned high, unsigned low);
  using Context = ucontext_t;
#endif
  static void Switch(Context* from, Context* to);
  void RunToEnd();

  void* stack_ = nullptr;
  size_t stack_bytes_ = 0;
  Context self_ = {};
  Context resumer_ = {};
  std::function<void()> body_;
  bool finished_ = true;
  void* fake_stack_ = nullptr;  // for the address sanitizer
  const void* resumer_stack_ = nullptr;
  size_t resumer_stack_bytes_ = 0;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_COROUTINE_H_
