/* Reads handwritten digits with two models that share their memory. */
#include <stdio.h>
#include <string.h>

#include "digits.h"
#include "images.h"
#include "odd_even.h"

static void draw(const int8_t *pixels)
{
    for (int y = 0; y < 8; ++y) {
        printf("    ");
        for (int x = 0; x < 8; ++x) {
            const int shade = (pixels[8 * y + x] + 128) / 52;
            printf("%c%c", " .:*#"[shade], " .:*#"[shade]);
        }
        printf("\n");
    }
}

static int largest(const int8_t *scores, int count)
{
    int best = 0;

    for (int i = 1; i < count; ++i) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    return best;
}

/* Run both models on one picture; return how many outputs are what TensorFlow Lite Micro computes. */
static int read_one(const struct image *image, int *digit, int *odd)
{
    int exact = 0;

    memcpy(digits_map_inputs().image, image->pixels, sizeof image->pixels);
    if (digits_run() != USMP_OK) {
        return -1;
    }
    const int8_t *scores = digits_map_outputs().scores;
    *digit = largest(scores, 10);
    exact += memcmp(scores, image->digits_scores, sizeof image->digits_scores) == 0;

    /* From here on the scores are gone: odd_even uses the same bytes. */
    memcpy(odd_even_map_inputs().image, image->pixels, sizeof image->pixels);
    if (odd_even_run() != USMP_OK) {
        return -1;
    }
    *odd = odd_even_map_outputs().odd[0] >= 0;
    exact += odd_even_map_outputs().odd[0] == image->odd_even_odd;
    return exact;
}

int main(void)
{
    const int count = (int)(sizeof images / sizeof images[0]);
    int right = 0;
    int exact = 0;

    for (int i = 0; i < count; ++i) {
        int digit = 0;
        int odd = 0;
        const int equal = read_one(&images[i], &digit, &odd);

        if (equal < 0) {
            printf("a model did not run\n");
            return 1;
        }
        if (i < 2) {
            draw(images[i].pixels);
            printf("  this is a %d, and it is %s\n\n", digit, odd ? "odd" : "even");
        }
        right += digit == images[i].label;
        exact += equal;
    }
    printf("%d of %d digits read correctly; %d of %d outputs equal those of TensorFlow Lite Micro\n",
           right, count, exact, 2 * count);
    return exact == 2 * count ? 0 : 1;
}
