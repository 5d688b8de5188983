// Which sanitizer this program was compiled with. GCC and Clang define different macros.
#ifndef COBRA_BASE_SANITIZER_H_
#define COBRA_BASE_SANITIZER_H_

#if defined(__SANITIZE_ADDRESS__)
#define COBRA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COBRA_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define COBRA_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COBRA_TSAN 1
#endif
#endif

#if defined(COBRA_ASAN) || defined(COBRA_TSAN)
#define COBRA_SANITIZED 1
#endif

#endif  // COBRA_BASE_SANITIZER_H_
