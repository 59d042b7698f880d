/* What kernels need of the generated "usmp.h". */
#ifndef USMP_H
#define USMP_H

#include <stddef.h>
#include <stdint.h>

typedef float usmp_f32 __attribute__((may_alias));
typedef int16_t usmp_i16 __attribute__((may_alias));
typedef int32_t usmp_i32 __attribute__((may_alias));
typedef int64_t usmp_i64 __attribute__((may_alias));
typedef uint16_t usmp_u16 __attribute__((may_alias));
typedef uint32_t usmp_u32 __attribute__((may_alias));
typedef uint64_t usmp_u64 __attribute__((may_alias));

#endif
