#include "parity.h"
#include "reader.h"

#ifndef NDEBUG
#error "definitions of the plan reach who depends on it"
#endif

USMP_ALIGNED(READER_WEIGHTS_ALIGNMENT) static const uint8_t weights[READER_WEIGHTS_SIZE] = {
#include "reader_weights.inc"
};

int main(void)
{
    const struct parity_constant_pools constants = { weights };

    return reader_check_weights(weights) == USMP_OK && parity_run(&constants) == USMP_OK ? 0 : 1;
}
