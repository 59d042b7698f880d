/* Runs one network twice: with its tensors in banked memory, and with each of them in one piece. */
#include <stdio.h>
#include <string.h>

#include "expected.h"
#include "pages.h"
#include "pieces.h"

#define PAGE 2048

/* Any picture will do, as long as make_expected.py has the same. */
static void draw(int8_t *pixels, size_t count)
{
    uint32_t noise = 1;

    for (size_t i = 0; i < count; ++i) {
        noise = noise * 1664525u + 1013904223u;
        pixels[i] = (int8_t)((int32_t)(noise >> 24) - 128);
    }
}

static int equal(const int8_t *means, int number)
{
    return memcmp(means, expected[number], sizeof expected[number]) == 0;
}

int main(void)
{
    int in_pages = 0;
    int in_one_piece = 0;

    draw(pages_map_inputs().picture, PAGES_PICTURE_SIZE);
    draw(pieces_map_inputs().picture, PIECES_PICTURE_SIZE);
    if (pages_run() != USMP_OK || pieces_run() != USMP_OK) {
        printf("the network did not run\n");
        return 1;
    }
    const struct pages_outputs pages = pages_map_outputs();
    const struct pieces_outputs pieces = pieces_map_outputs();
#define COMPARE(number)                                    \
    in_pages += equal(pages.mean_##number, number);        \
    in_one_piece += equal(pieces.mean_##number, number);
    COMPARE(0) COMPARE(1) COMPARE(2) COMPARE(3) COMPARE(4) COMPARE(5) COMPARE(6) COMPARE(7) COMPARE(8)

    printf("in pages: %d pages, %d of 9 outputs equal those of TensorFlow Lite Micro\n",
           PAGES_VTCM_WORKSPACE_POOL_SIZE / PAGE, in_pages);
    printf("in one piece each: %d pages, %d of 9\n", PIECES_BLOCK_WORKSPACE_POOL_SIZE / PAGE, in_one_piece);
    return in_pages == 9 && in_one_piece == 9 ? 0 : 1;
}
