#include <stdio.h>
#include "p.h"
#include "digits.h"

extern uint8_t p_sram_pool[];

static int bad(const char *what, const void *data, size_t size, size_t cached)
{
    const size_t from = (size_t)((const uint8_t *)data - p_sram_pool);

    if ((uintptr_t)data % 32 != 0 || cached % 32 != 0 || cached < size || cached >= size + 32
        || from + cached > P_SRAM_SIZE) {
        printf("%s\n", what);
        return 1;
    }
    return 0;
}

int main(void)
{
    const struct digits_inputs in = digits_map_inputs();
    const struct digits_outputs out = digits_map_outputs();

    return bad("input", in.INPUT, DIGITS_INPUT_SIZE, DIGITS_INPUT_CACHE_BYTES)
        + bad("output", out.OUTPUT, DIGITS_OUTPUT_SIZE, DIGITS_OUTPUT_CACHE_BYTES);
}
