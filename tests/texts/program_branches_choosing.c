#include <stdio.h>
#include "p.h"

void p_half(const usmp_i32 *x, usmp_i32 *y) { *y = *x / 2; }
void p_more(const usmp_i32 *x, usmp_i32 *y) { *y = 3 * *x + 1; }

int main(void)
{
    for (int32_t number = 2; number < 6; ++number) {
        int32_t result = 0;
        uint8_t is_even = number % 2 == 0;
        const struct p_inputs inputs = { &number, &is_even };
        const struct p_outputs outputs = { &result };

        if (p_run(&inputs, &outputs) != USMP_OK) {
            return 1;
        }
        printf("%d ", (int)result);
    }
    return 0;
}
