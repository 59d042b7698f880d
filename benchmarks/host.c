/* Runs a model many times on this machine; writes the nanoseconds of the fastest run, then the outputs' bytes. */
#define _POSIX_C_SOURCE 199309L

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "benchmark.h"

static long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void show(const void *data, size_t size)
{
    fwrite(data, 1, size, stdout);
}

int main(int argc, char **argv)
{
    const int runs = argc > 1 ? atoi(argv[1]) : 1;
    long long best = LLONG_MAX;

    for (int run = 0; run < runs; ++run) {
        bench_fill();
        const long long start = now();
        const enum usmp_status status = model_run();
        const long long took = now() - start;

        if (status != USMP_OK) {
            return 1;
        }
        best = took < best ? took : best;
    }
    printf("%lld\n", best);
    bench_outputs(show);
    return 0;
}
