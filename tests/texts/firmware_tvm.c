#include <string.h>

#include "digits.h"
#include "host.h"
#include "net.h"

int main(void)
{
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < 16; ++i) {
            net_map_inputs().x[i] = (int8_t)(7 * i - 50);
        }
        if (net_run() != USMP_OK) {
            return 1;
        }
        for (int i = 0; i < 4; ++i) {
            host_print_number((unsigned)(net_map_outputs().y[i] + 128));
            host_print(" ");
        }
        memset(digits_map_inputs().image, 100, DIGITS_IMAGE_SIZE);
        if (digits_run() != USMP_OK) {
            return 1;
        }
    }
    return 0;
}
