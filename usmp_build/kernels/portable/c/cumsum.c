/* CUMSUM: running sums along an axis of `depth` elements, of which each has `inner` neighbors. */
#include "arithmetic.h"
#include "usmp.h"
#include "walk.h"

/* Each sum takes its own element, too, unless it is `exclusive`.  `reversed`: from the last element to the first.  The
 * factor is that of usmp_scale_down; low and high are the limits of the output less its zero point. */
struct usmp_cumsum_s8_parameters {
    int32_t images;
    int32_t depth;
    int32_t inner;
    int32_t exclusive;
    int32_t reversed;
    int32_t input_zero_point;
    int32_t multiplier;
    int32_t right;
    int32_t output_zero_point;
    int32_t low;
    int32_t high;
    int32_t direction; /* 1 forward, -1 backward: of images and neighbors, never of the sums */
};

struct usmp_cumsum_f32_parameters {
    int32_t images;
    int32_t depth;
    int32_t inner;
    int32_t exclusive;
    int32_t reversed;
    int32_t direction; /* 1 forward, -1 backward: of images and neighbors, never of the sums */
};

static inline int8_t usmp_cumsum_output(const struct usmp_cumsum_s8_parameters *p, int32_t sum)
{
    const int32_t scaled = usmp_scale_down(sum, p->multiplier, p->right);
    return (int8_t)(usmp_clamp(scaled, p->low, p->high) + p->output_zero_point);
}

/* Sums have 19 bits after the point, and wrap.  As in TensorFlow Lite Micro, they begin with minus the zero point. */
void usmp_cumsum_s8(const struct usmp_cumsum_s8_parameters *p, const int8_t *input, int8_t *output)
{
    const struct usmp_walk images = usmp_walk_along(p->images, 1, p->direction);
    const struct usmp_walk neighbors = usmp_walk_along(p->inner, 1, p->direction);
    const struct usmp_walk along = usmp_walk_along(p->depth, 1, p->reversed ? -1 : 1);

    for (int32_t image = images.first; image != images.end; image += images.step) {
        for (int32_t c = neighbors.first; c != neighbors.end; c += neighbors.step) {
            const int32_t first = image * p->depth * p->inner + c;
            int32_t sum = -p->input_zero_point * (1 << 19);

            for (int32_t i = along.first; i != along.end; i += along.step) {
                const int32_t value = (input[first + i * p->inner] - p->input_zero_point) * (1 << 19);
                const int32_t next = usmp_add(sum, value);
                output[first + i * p->inner] = usmp_cumsum_output(p, p->exclusive ? sum : next);
                sum = next;
            }
        }
    }
}

void usmp_cumsum_f32(const struct usmp_cumsum_f32_parameters *p, const usmp_f32 *input, usmp_f32 *output)
{
    const struct usmp_walk images = usmp_walk_along(p->images, 1, p->direction);
    const struct usmp_walk neighbors = usmp_walk_along(p->inner, 1, p->direction);
    const struct usmp_walk along = usmp_walk_along(p->depth, 1, p->reversed ? -1 : 1);

    for (int32_t image = images.first; image != images.end; image += images.step) {
        for (int32_t c = neighbors.first; c != neighbors.end; c += neighbors.step) {
            const int32_t first = image * p->depth * p->inner + c;
            float sum = 0.0f;

            for (int32_t i = along.first; i != along.end; i += along.step) {
                const float next = sum + input[first + i * p->inner];
                output[first + i * p->inner] = p->exclusive ? sum : next;
                sum = next;
            }
        }
    }
}
