/* Two clerks read digits at the same time, each with the same two models, in an arena of its own. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "desk.h"
#include "digits.h"
#include "images.h"
#include "odd_even.h"

enum { CLERKS = 2, ROUNDS = 50, COUNT = sizeof images / sizeof images[0] };

/* The type aligns each element of an array of them. */
struct arena {
    USMP_ALIGNED(DESK_ARENA_ALIGNMENT) uint8_t bytes[DESK_ARENA_SIZE];
};
USMP_SECTION(DESK_ARENA_SECTION) static struct arena arenas[CLERKS];

struct clerk {
    pthread_t thread;
    uint8_t *arena;
    int exact;
};

/* Both models use the same arena, one after the other. */
static int read_one(uint8_t *arena, const struct image *image)
{
    const struct digits_workspace_pools digits = { arena };
    const struct odd_even_workspace_pools odd_even = { arena };
    int8_t odd = 0;
    const struct odd_even_inputs inputs = { image->pixels };
    const struct odd_even_outputs outputs = { &odd };
    int exact = 0;

    memcpy(digits_map_inputs(&digits).image, image->pixels, sizeof image->pixels);
    if (digits_run(&digits) == USMP_OK) {
        const int8_t *const scores = digits_map_outputs(&digits).scores;
        exact += memcmp(scores, image->digits_scores, sizeof image->digits_scores) == 0;
    }
    if (odd_even_run(&inputs, &outputs, &odd_even) == USMP_OK) {
        exact += odd == image->odd_even_odd;
    }
    return exact;
}

static void *work(void *argument)
{
    struct clerk *const clerk = argument;

    for (int round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < COUNT; ++i) {
            clerk->exact += read_one(clerk->arena, &images[i]);
        }
    }
    return NULL;
}

int main(void)
{
    struct clerk clerks[CLERKS];
    const int all = 2 * ROUNDS * COUNT;
    int exact = 0;

    for (int i = 0; i < CLERKS; ++i) {
        clerks[i].arena = arenas[i].bytes;
        clerks[i].exact = 0;
        if (pthread_create(&clerks[i].thread, NULL, work, &clerks[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < CLERKS; ++i) {
        pthread_join(clerks[i].thread, NULL);
        printf("clerk %d: %d of %d outputs equal those of TensorFlow Lite Micro\n", i, clerks[i].exact, all);
        exact += clerks[i].exact;
    }
    return exact == CLERKS * all ? 0 : 1;
}
