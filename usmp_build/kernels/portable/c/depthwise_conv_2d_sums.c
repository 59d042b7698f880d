/* DEPTHWISE_CONV_2D whose window makes one output row, by adding up the rows of the image. */
#include "depthwise_conv_2d.h"
#include "sums.h"

/* Clears the sums. */
void usmp_depthwise_conv_2d_sums_s8_begin(
    const struct usmp_depthwise_conv_2d_sums_s8_parameters *p, usmp_stored_sum *sums)
{
    for (int32_t i = 0; i < p->output_width * p->input_channels * p->depth_multiplier; ++i) {
        sums[i] = 0;
    }
}

/* Makes the output row of the sums. */
void usmp_depthwise_conv_2d_sums_s8_finish(
    const struct usmp_depthwise_conv_2d_sums_s8_parameters *p, const usmp_stored_sum *sums, const usmp_sum *bias,
#if USMP_S8 || USMP_S16
    const int32_t *multiplier, const usmp_shift *shift,
#endif
    int8_t *output)
{
    const int32_t channels = p->input_channels * p->depth_multiplier;

#if USMP_S8
    usmp_finish_sums_s8(
        sums, p->output_width, channels, bias, multiplier, shift, p->low, p->high, p->output_zero_point, p->direction,
        output);
#elif USMP_S16
    usmp_finish_sums_s16(
        sums, p->output_width, channels, bias, 0, multiplier, shift, p->low, p->high, p->direction, output);
#else
    usmp_finish_sums_f32(sums, p->output_width, channels, bias, p->low, p->high, p->direction, output);
#endif
}
