/* Runs the program on pictures, and compares with the same arithmetic in arrays that share no memory. */
#include <stdio.h>
#include <string.h>

#include "vision.h"

enum { SIZE = 8, CHANNELS = 4, CLASSES = 5, PICTURES = 20 };

/* The constants of vision.program.json. */
static const int8_t blur[] = {
    -2, 5, 1, -3, 4, 0, -4, 3, -1, -5, 2, -2, 5, 1, -3, 4, 0, -4,
    3, -1, -5, 2, -2, 5, 1, -3, 4, 0, -4, 3, -1, -5, 2, -2, 5, 1,
};
static const int8_t edge[] = {
    -3, 2, -2, 3, -1, 4, 0, -4, 1, -3, 2, -2, 3, -1, 4, 0, -4, 1,
    -3, 2, -2, 3, -1, 4, 0, -4, 1, -3, 2, -2, 3, -1, 4, 0, -4, 1,
};
static const int8_t vote[] = {
    -1, 2, -2, 1, -3, 0, 3, -1, 2, -2, 1, -3, 0, 3, -1, 2, -2, 1, -3, 0,
};

typedef int8_t picture[SIZE][SIZE][CHANNELS];

static void filter(picture in, const int8_t *weights, picture out)
{
    for (int y = 0; y < SIZE; ++y) {
        for (int x = 0; x < SIZE; ++x) {
            for (int c = 0; c < CHANNELS; ++c) {
                int sum = 0;

                for (int dy = -1; dy <= 1; ++dy) {
                    for (int dx = -1; dx <= 1; ++dx) {
                        if (y + dy >= 0 && y + dy < SIZE && x + dx >= 0 && x + dx < SIZE) {
                            sum += in[y + dy][x + dx][c] * weights[((dy + 1) * 3 + dx + 1) * CHANNELS + c];
                        }
                    }
                }
                sum /= 8;
                out[y][x][c] = (int8_t)(sum < 0 ? 0 : sum > 127 ? 127 : sum);
            }
        }
    }
}

static void expect(picture image, int32_t *votes)
{
    picture blurred;
    picture edges;

    filter(image, blur, blurred);
    filter(blurred, edge, edges);
    memset(votes, 0, CLASSES * sizeof *votes);
    for (int c = 0; c < CHANNELS; ++c) {
        int sum = 0;

        for (int i = 0; i < SIZE * SIZE; ++i) {
            sum += edges[i / SIZE][i % SIZE][c];
        }
        for (int n = 0; n < CLASSES; ++n) {
            votes[n] += vote[n * CHANNELS + c] * (sum / (SIZE * SIZE));
        }
    }
}

int main(void)
{
    uint32_t noise = 1;
    int equal = 0;

    for (int i = 0; i < PICTURES; ++i) {
        picture image;
        int32_t votes[CLASSES];
        int32_t expected[CLASSES];
        const struct vision_inputs inputs = { &image[0][0][0] };
        const struct vision_outputs outputs = { votes };

        for (int at = 0; at < SIZE * SIZE * CHANNELS; ++at) {
            noise = noise * 1664525u + 1013904223u;
            image[at / CHANNELS / SIZE][at / CHANNELS % SIZE][at % CHANNELS] = (int8_t)((int)(noise >> 24) - 128);
        }
        expect(image, expected);
        if (vision_run(&inputs, &outputs) != USMP_OK) {
            printf("the program did not run\n");
            return 1;
        }
        equal += memcmp(votes, expected, sizeof votes) == 0;
    }
    printf("%d of %d pictures get the votes that they get without shared memory\n", equal, PICTURES);
    return equal == PICTURES ? 0 : 1;
}
