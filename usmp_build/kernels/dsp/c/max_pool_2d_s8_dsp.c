/* MAX_POOL_2D with Arm's DSP extension: a word of channels at once. */
#include "arithmetic.h"
#include "dsp.h"
#include "pool_2d.h"
#include "walk.h"
#include "window.h"
#include <string.h>

/* As many copies of a number as a word has. */
static inline uint32_t usmp_copies_s8_dsp(int32_t number)
{
#if USMP_S8
    return (uint32_t)(uint8_t)number * 0x01010101u;
#else
    return (uint32_t)(uint16_t)number * 0x00010001u;
#endif
}

/* The larger one of each pair of the numbers in two words. */
static inline uint32_t usmp_maximum_of_words_s8_dsp(uint32_t a, uint32_t b)
{
    uint32_t result = 0;
#if USMP_DSP
#if USMP_S8
    __asm__("ssub8 %0, %1, %2\n\t" "sel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b) : "cc");
#else
    __asm__("ssub16 %0, %1, %2\n\t" "sel %0, %1, %2" : "=&r"(result) : "r"(a), "r"(b) : "cc");
#endif
#else
    const int32_t bits = 8 * (int32_t)sizeof(int8_t);
    const uint32_t mask = (1u << bits) - 1;

    for (int32_t bit = 0; bit < 32; bit += bits) {
        const int32_t larger = usmp_maximum((int8_t)(a >> bit & mask), (int8_t)(b >> bit & mask));
        result |= ((uint32_t)larger & mask) << bit;
    }
#endif
    return result;
}

/* `count` pixels of a row under a window, or none for a row that is NULL: those of a word of channels. */
static inline uint32_t usmp_maximum_of_row_s8_dsp(
    const int8_t *row, int32_t first, int32_t count, int32_t pitch, uint32_t most)
{
    for (int32_t i = 0; row != NULL && i < count; ++i) {
        uint32_t word;

        memcpy(&word, row + first + i * pitch, 4);
        most = usmp_maximum_of_words_s8_dsp(most, word);
    }
    return most;
}

/* One output row from the input rows under the window; a row that is NULL is padding. */
void usmp_max_pool_2d_s8_dsp_row(
    const struct usmp_pool_2d_s8_parameters *p, const int8_t *const *rows, int8_t *output)
{
    const int32_t lanes = 4 / (int32_t)sizeof(int8_t);
    const int32_t height = p->window_height;
    const int32_t pitch = p->input_pitch;
    const int32_t words = p->channels / lanes;
    const uint32_t low = usmp_copies_s8_dsp(p->low);
    const uint32_t high = usmp_copies_s8_dsp(p->high);
    const struct usmp_walk pixels = usmp_walk_along(p->output_width, 1, p->direction);
    const struct usmp_walk turns = usmp_walk_along(p->channels - (lanes - 1) * words, 1, p->direction);

    for (int32_t x = pixels.first; x != pixels.end; x += pixels.step) {
        const int32_t start = x * p->stride - p->before;
        const struct usmp_taps taps = usmp_taps_inside(start, 1, p->window_width, p->input_width);
        const int32_t first = (start + taps.first) * pitch;
        const int32_t width = taps.end - taps.first;
        int8_t *const pixel = output + x * p->output_pitch;

        for (int32_t turn = turns.first; turn != turns.end; turn += turns.step) {
            const int32_t c = turn < words ? lanes * turn : turn + (lanes - 1) * words;

            if (turn < words) {
                uint32_t most = low;

                for (int32_t y = 0; y < height; ++y) {
                    most = usmp_maximum_of_row_s8_dsp(rows[y], first + c, width, pitch, most);
                }
                most = ~usmp_maximum_of_words_s8_dsp(~most, ~high); /* the smaller ones: ~x is -1 - x */
                memcpy(pixel + c, &most, 4);
            } else {
                int32_t most = p->low;

                for (int32_t y = 0; y < height; ++y) {
                    for (int32_t i = 0; rows[y] != NULL && i < width; ++i) {
                        most = usmp_maximum(most, rows[y][first + c + i * pitch]);
                    }
                }
                pixel[c] = (int8_t)usmp_minimum(most, p->high);
            }
        }
    }
}
