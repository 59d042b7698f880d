/* Does what it must not, by a word on its command line: the fault report should tell. */
#include <string.h>

#include "digits.h"
#include "host.h"
#include "protect.h"

/* The first pool of the plan with these rights. */
static const struct usmp_region *find_pool(enum usmp_access access)
{
    for (const struct usmp_region *pool = first_pool; pool < regions + region_count; ++pool) {
        if (pool->access == access && pool->start != pool->end) {
            return pool;
        }
    }
    host_print("the plan has no such pool\n");
    host_exit(1);
}

static void write_to(uintptr_t address)
{
    *(volatile uint8_t *)address = 1;
}

/* Every call takes a piece of the stack, and needs it until the next one is back. */
static unsigned dig(unsigned depth)
{
    volatile uint8_t piece[256];

    piece[0] = 1;
    return depth == 0 ? 0 : dig(depth - 1) + piece[0];
}

int main(void)
{
    char line[1024];

    host_command_line(line, sizeof line);
    const char *space = strrchr(line, ' ');
    const char *word = space != NULL ? space + 1 : "";
    if (digits_run() != USMP_OK) {
        return 1;
    }
    if (strcmp(word, "behind") == 0) {
        write_to(protect_piece(find_pool(USMP_RW)).end);
    } else if (strcmp(word, "before") == 0) {
        write_to((uintptr_t)find_pool(USMP_RW)->start - 1);
    } else if (strcmp(word, "constant") == 0) {
        write_to((uintptr_t)find_pool(USMP_RO)->start);
    } else if (strcmp(word, "execute") == 0) {
        ((void (*)(void))((uintptr_t)find_pool(USMP_RW)->start | 1))();
    } else if (strcmp(word, "nowhere") == 0) {
        return *(const volatile uint8_t *)(uintptr_t)0xA0000000;
    } else if (strcmp(word, "stack") == 0) {
        return (int)dig(1000);
    }
    host_print("no fault\n");
    return 0;
}
