// What libraries that are not instrumented order between threads, told to ThreadSanitizer; nothing
// in other builds. Any thread.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WC_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) && !defined(WC_THREAD_SANITIZER)
#define WC_THREAD_SANITIZER 1
#endif

#ifdef WC_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace wirecache::cache {

// Before the call that publishes through `object`.
inline void tsan_release([[maybe_unused]] const void* object) {
#ifdef WC_THREAD_SANITIZER
  __tsan_release(const_cast<void*>(object));
#endif
}

// After the call that read through it.
inline void tsan_acquire([[maybe_unused]] const void* object) {
#ifdef WC_THREAD_SANITIZER
  __tsan_acquire(const_cast<void*>(object));
#endif
}

}  // namespace wirecache::cache
