#include <pthread.h>
#include <string.h>

#include "a.h"
#include "b.h"

#define TURN(model)                                                                  \
    static void *turn_##model(void *wrong)                                           \
    {                                                                                \
        for (int run = 0; run < 2000; ++run) {                                       \
            memset(model##_map_inputs().in0, run % 5, 64);                           \
            const int bad = model##_run() != USMP_OK;                                \
            const int8_t *out = model##_map_outputs().out;                           \
            for (int i = 1; i < 64; ++i) {                                           \
                *(int *)wrong += bad || out[i] != out[0] || out[0] != 3 * (run % 5) - 6; \
            }                                                                        \
        }                                                                            \
        return NULL;                                                                 \
    }
TURN(a)
TURN(b)

int main(void)
{
    int wrong[2] = { 0, 0 };
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, turn_a, &wrong[0]);
    pthread_create(&threads[1], NULL, turn_b, &wrong[1]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return wrong[0] + wrong[1] != 0;
}
