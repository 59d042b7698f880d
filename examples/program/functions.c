/* The functions of vision.program.json, as the other compiler would make them, by hand: vision.h says how they are
 * called, and where the buffers are that they once allocated. */
#include "vision.h"

enum { SIZE = 8, PADDED = SIZE + 2, CHANNELS = 4, CLASSES = 5 };

/* 3 by 3 for each channel, in a picture with a border of zeros; an eighth of the sums is clipped to [0, 127]. */
void vision_fused_depthwise_conv2d_relu(const int8_t *input, const int8_t *filter, int8_t *output)
{
    const struct vision_fused_depthwise_conv2d_relu_buffers buffers = vision_fused_depthwise_conv2d_relu_map_buffers();

    for (int y = 0; y < PADDED; ++y) {
        for (int x = 0; x < PADDED; ++x) {
            const int inside = y > 0 && y <= SIZE && x > 0 && x <= SIZE;

            for (int c = 0; c < CHANNELS; ++c) {
                buffers.PaddedInput[(y * PADDED + x) * CHANNELS + c] =
                    inside ? input[((y - 1) * SIZE + x - 1) * CHANNELS + c] : 0;
            }
        }
    }
    for (int y = 0; y < SIZE; ++y) {
        for (int x = 0; x < SIZE; ++x) {
            for (int c = 0; c < CHANNELS; ++c) {
                int32_t sum = 0;

                for (int k = 0; k < 9; ++k) {
                    const int at = (y + k / 3) * PADDED + x + k % 3;

                    sum += buffers.PaddedInput[at * CHANNELS + c] * filter[k * CHANNELS + c];
                }
                buffers.DepthwiseConv2d[(y * SIZE + x) * CHANNELS + c] = sum;
            }
        }
    }
    for (int i = 0; i < SIZE * SIZE * CHANNELS; ++i) {
        const int32_t scaled = buffers.DepthwiseConv2d[i] / 8;

        output[i] = (int8_t)(scaled < 0 ? 0 : scaled > 127 ? 127 : scaled);
    }
}

/* The mean of each channel, then a weighted sum of them for each class. */
void vision_fused_mean_dense(const int8_t *input, usmp_i32 *output)
{
    const struct vision_fused_mean_dense_buffers buffers = vision_fused_mean_dense_map_buffers();

    for (int c = 0; c < CHANNELS; ++c) {
        int32_t sum = 0;

        for (int i = 0; i < SIZE * SIZE; ++i) {
            sum += input[i * CHANNELS + c];
        }
        buffers.mean[c] = sum / (SIZE * SIZE);
    }
    for (int n = 0; n < CLASSES; ++n) {
        output[n] = 0;
        for (int c = 0; c < CHANNELS; ++c) {
            output[n] += buffers.weights[n * CHANNELS + c] * buffers.mean[c];
        }
    }
}
