/* What all inline assembly shares. */
#ifndef USMP_ASSEMBLY_H
#define USMP_ASSEMBLY_H

#include "usmp.h"

/* An operand of assembly, %[MEMBER]: the place of a member in its struct.  A naked function may have it, for it takes
 * no register. */
#define USMP_OFFSET(STRUCT, MEMBER) [MEMBER] "i"(offsetof(struct STRUCT, MEMBER))

/* What only one of C and assembly uses. */
#if defined(__GNUC__)
#define USMP_UNUSED __attribute__((unused))
#else
#define USMP_UNUSED
#endif

#endif
