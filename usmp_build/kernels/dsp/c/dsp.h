/* Sums of products with Arm's DSP extension.
 *
 * The inner functions are assembly: the same instructions at -O0 and -O3, from gcc and clang.  Where there are no such
 * instructions (`USMP_DSP` is 0) a C body reads and writes the same bytes of the same layouts, turn by turn.
 *
 * Input is read by words from runs of at least four bytes.  Where a run is no multiple of four bytes, its last word
 * overlaps the one before, and weights of bytes that come again are 0: nothing beyond the run is read. */
#ifndef USMP_DSP_H
#define USMP_DSP_H

#include "assembly.h"
#include "usmp.h"

/* Whether inner functions are assembly for the DSP extension: all of their body, or none of it. */
#if defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && !defined(__ARM_BIG_ENDIAN) && defined(__GNUC__)
#define USMP_DSP 1
#define USMP_ASSEMBLY __attribute__((naked, noinline, used)) /* its arguments are, too */
#define USMP_ASSEMBLY_OR_INLINE USMP_ASSEMBLY
#else
#define USMP_DSP 0
#define USMP_ASSEMBLY
#define USMP_ASSEMBLY_OR_INLINE inline
#endif

/* sum * factor / 2^32, rounded to the nearest, halves upwards, where `excess` is the factor less 2^32: SMMLAR. */
static inline USMP_UNUSED int32_t usmp_multiply_high_dsp(int32_t sum, int32_t excess)
{
#if USMP_DSP
    int32_t high;
    __asm__("smmlar %0, %1, %2, %1" : "=r"(high) : "r"(sum), "r"(excess));
    return high;
#else
    const int64_t product = (int64_t)sum * excess;
    return sum + (int32_t)(product >> 32) + (int32_t)((uint32_t)product >> 31);
#endif
}

/* sum * multiplier / 2^32, rounded to the nearest, halves upwards: SMMULR. */
static inline USMP_UNUSED int32_t usmp_scaled_s16_dsp(int32_t sum, int32_t multiplier)
{
#if USMP_DSP
    int32_t high;
    __asm__("smmulr %0, %1, %2" : "=r"(high) : "r"(sum), "r"(multiplier));
    return high;
#else
    return (int32_t)(((int64_t)sum * multiplier + ((int64_t)1 << 31)) >> 32);
#endif
}

/* How sums become outputs: sum * multiplier / 2^31 is rounded, shifted right by `less` + 1 bits with halves away from
 * zero, and moved by the zero point.  `excess` is twice the multiplier less 2^32; `rounding` is 1 + 2 * the output's
 * zero point. */
static inline USMP_UNUSED int32_t usmp_scaled_s8_dsp(int32_t sum, int32_t excess, int32_t less, int32_t rounding)
{
    const int32_t high = usmp_multiply_high_dsp(sum, excess);
    const int32_t result = (((high + (high >> 31)) >> less) + rounding) >> 1;
    return result < -128 ? -128 : result > 127 ? 127 : result;
}

/* The same for a multiplier that may stand for 1/2 or more.  The sum is first shifted left; its product is doubled, so
 * that it is shifted right by at least one bit.  `shifts` is a byte:
 *
 *     1 | to the left, 2 bits | to the right, 5 bits */
static inline USMP_UNUSED int32_t usmp_scaled_steep_s8_dsp(
    int32_t sum, int32_t excess, int32_t shifts, int32_t rounding)
{
    const int32_t twice = 2 * usmp_multiply_high_dsp(sum * (1 << (shifts >> 5 & 3)), excess);
    const int32_t result = (((twice + (twice >> 31)) >> (shifts & 31)) + rounding) >> 1;
    return result < -128 ? -128 : result > 127 ? 127 : result;
}

/* Either of them: `byte` is `less`, or, for all four outputs of a block if a factor is 1/2 or more, `shifts`. */
static inline USMP_UNUSED int32_t usmp_output_s8_dsp(int32_t sum, int32_t excess, int32_t byte, int32_t rounding)
{
    return (byte & 0x80) != 0 ? usmp_scaled_steep_s8_dsp(sum, excess, byte, rounding)
                              : usmp_scaled_s8_dsp(sum, excess, byte, rounding);
}

/* Four bytes of a value in a word. */
static inline USMP_UNUSED int32_t usmp_four_times_dsp(int32_t value)
{
    return (int32_t)((uint32_t)(value & 0xff) * 0x01010101u);
}

/* Keeps four bytes of OUTPUTS within those of LOW and HIGH. */
#define USMP_DSP_LIMITS(OUTPUTS, LOW, HIGH, TEMPORARY) \
    "ssub8  " TEMPORARY ", " OUTPUTS ", " LOW "\n\t" \
    "sel    " OUTPUTS ", " OUTPUTS ", " LOW "\n\t" \
    "ssub8  " TEMPORARY ", " HIGH ", " OUTPUTS "\n\t" \
    "sel    " OUTPUTS ", " OUTPUTS ", " HIGH "\n\t"

/* Keeps one output within LOW and HIGH. */
#define USMP_DSP_LIMIT(OUTPUT, LOW, HIGH) \
    "cmp    " OUTPUT ", " LOW "\n\t" \
    "it     lt\n\t" \
    "movlt  " OUTPUT ", " LOW "\n\t" \
    "cmp    " OUTPUT ", " HIGH "\n\t" \
    "it     gt\n\t" \
    "movgt  " OUTPUT ", " HIGH "\n\t"

/* The assembly of usmp_scaled_steep_s8_dsp up to the shift to the right.  FACTOR is `excess`; the lowest byte of BYTES
 * is `shifts`, and is shifted out. */
#define USMP_DSP_STEEP(SUM, FACTOR, BYTES, TEMPORARY) \
    "ubfx   " TEMPORARY ", " BYTES ", #5, #2\n\t" \
    "lsl    " SUM ", " SUM ", " TEMPORARY "\n\t" \
    "smmlar " SUM ", " SUM ", " FACTOR ", " SUM "\n\t" \
    "and    " TEMPORARY ", " BYTES ", #31\n\t" \
    "lsl    " SUM ", " SUM ", #1\n\t" \
    "add    " SUM ", " SUM ", " SUM ", asr #31\n\t" \
    "asr    " SUM ", " SUM ", " TEMPORARY "\n\t" \
    "lsr    " BYTES ", " BYTES ", #8\n\t"

#endif
