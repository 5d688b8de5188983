// What both libraries here are made of: an order that ThreadSanitizer shall know, and the function
// that comes next. Without ThreadSanitizer in the process nothing happens.
#ifndef COBRA_TESTS_TSAN_HAPPENS_BEFORE_H_
#define COBRA_TESTS_TSAN_HAPPENS_BEFORE_H_

#include <dlfcn.h>

extern "C" {

__attribute__((weak)) void __tsan_acquire(void* address);
__attribute__((weak)) void __tsan_release(void* address);

}  // extern "C"

// What came before Release() of an address is known after Acquire() of it.
inline void Acquire(void* address) {
  if (__tsan_acquire != nullptr) __tsan_acquire(address);
}

inline void Release(void* address) {
  if (__tsan_release != nullptr) __tsan_release(address);
}

// The function of this name in the library that comes next.
template <typename Function>
Function Next(Function, const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

#endif  // COBRA_TESTS_TSAN_HAPPENS_BEFORE_H_
