/* For bodies that are compiled once per instruction set: functions that must vanish into their callers, and loops that must vanish
 * into their steps, or sums would not stay in registers. */
#ifndef QP_MODEL_UNROLL_H
#define QP_MODEL_UNROLL_H

#define INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
