#include "start.h"

#include <stdint.h>
#include <string.h>

#include "host.h"
#include "protect.h"

/* The tables are as CMSIS has them, and the linker script makes them: .data, and pools that are used elsewhere than
 * they are stored; and .bss.  Workspace pools need not be zeroed. */
struct copy {
    const uint32_t *from;
    uint32_t *to;
    uint32_t words;
};

struct zero {
    uint32_t *to;
    uint32_t words;
};

extern const struct copy __copy_table_start[], __copy_table_end[];
extern const struct zero __zero_table_start[], __zero_table_end[];

_Noreturn void start(void)
{
    for (const struct copy *row = __copy_table_start; row < __copy_table_end; ++row) {
        memcpy(row->to, row->from, sizeof(uint32_t) * row->words);
    }
    for (const struct zero *row = __zero_table_start; row < __zero_table_end; ++row) {
        memset(row->to, 0, sizeof(uint32_t) * row->words);
    }
    host_exit(protect() ? main() : 1);
}
