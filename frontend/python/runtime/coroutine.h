// A native stack of its own, for running the interpreter (Interpreter::Run) and for the body of each generator: the evaluator
// recurses on the native stack, so a generator that yields must keep its part of it.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_COROUTINE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_COROUTINE_H_

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

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
  // In the body: back to who resumed.
  void Suspend();
  bool finished() const { return finished_; }
  const char* stack_low() const { return static_cast<const char*>(stack_); }

 private:
  Coroutine() = default;
  static void Entry(unsigned high, unsigned low);

  void* stack_ = nullptr;
  size_t stack_bytes_ = 0;
  ucontext_t self_ = {};
  ucontext_t resumer_ = {};
  std::function<void()> body_;
  bool finished_ = true;
  void* fake_stack_ = nullptr;          // for the address sanitizer
  const void* resumer_stack_ = nullptr;
  size_t resumer_stack_bytes_ = 0;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_COROUTINE_H_
