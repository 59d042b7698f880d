/* TFLite_Detection_PostProcess: boxes that are likely, without those that overlap a likelier one of the same class, or,
 * where boxes have their likeliest class only, of any. */
#include <math.h>

#include "usmp.h"

struct usmp_detection_parameters {
    int32_t boxes;
    int32_t encoding;   /* numbers of an encoded box */
    int32_t scores;     /* of a box: one for each class, after that of the background if there is one */
    int32_t background; /* scores of the background: 0 or 1 */
    int32_t classes;
    int32_t detections; /* room in the output */
    int32_t per_class;  /* most detections of a class */
    float likely;       /* the least score */
    float overlap;      /* the largest, as intersection over union */
    float y_scale;
    float x_scale;
    float h_scale;
    float w_scale;
};

/* Of a side: its middle, and half its length. */
static inline float usmp_detection_middle(float code, float scale, float length, float middle)
{
    return (float)((double)code / (double)scale * (double)length + (double)middle);
}

static inline float usmp_detection_half(float code, float scale, float length)
{
    return (float)(0.5 * exp((double)code / (double)scale) * (double)length);
}

/* Codes and anchors are the middle along y and x, then height and width; boxes are top, left, bottom and right. */
static inline void usmp_detection_decode(
    const struct usmp_detection_parameters *p, const usmp_f32 *encodings, const usmp_f32 *anchors, usmp_f32 *boxes)
{
    for (int32_t i = 0; i < p->boxes; ++i) {
        const usmp_f32 *const code = encodings + i * p->encoding, *const anchor = anchors + 4 * i;
        usmp_f32 *const box = boxes + 4 * i;
        const float y = usmp_detection_middle(code[0], p->y_scale, anchor[2], anchor[0]);
        const float x = usmp_detection_middle(code[1], p->x_scale, anchor[3], anchor[1]);
        const float half_height = usmp_detection_half(code[2], p->h_scale, anchor[2]);
        const float half_width = usmp_detection_half(code[3], p->w_scale, anchor[3]);

        box[0] = y - half_height;
        box[1] = x - half_width;
        box[2] = y + half_height;
        box[3] = x + half_width;
    }
}

static inline float usmp_detection_area(const usmp_f32 *box)
{
    return (box[2] - box[0]) * (box[3] - box[1]);
}

/* The length that two sides have in common. */
static inline float usmp_detection_common(float a, float b, float end_a, float end_b)
{
    const float length = (end_a < end_b ? end_a : end_b) - (a > b ? a : b);
    return length > 0.0f ? length : 0.0f;
}

/* Intersection over union. */
static inline float usmp_detection_overlap(const usmp_f32 *a, const usmp_f32 *b)
{
    const float area_a = usmp_detection_area(a), area_b = usmp_detection_area(b);

    if (area_a <= 0.0f || area_b <= 0.0f) {
        return 0.0f;
    }
    const float common =
        usmp_detection_common(a[0], b[0], a[2], b[2]) * usmp_detection_common(a[1], b[1], a[3], b[3]);
    return common / (area_a + area_b - common);
}

/* The likeliest active box, the first of several; -1 if there is none.  It is active no longer, and neither are those
 * that overlap it. */
static inline int32_t usmp_detection_next(
    const struct usmp_detection_parameters *p,
    const usmp_f32 *scores,
    int32_t step,
    const usmp_f32 *boxes,
    uint8_t *active)
{
    int32_t next = -1;

    for (int32_t i = 0; i < p->boxes; ++i) {
        if (active[i] && (next < 0 || scores[i * step] > scores[next * step])) {
            next = i;
        }
    }
    for (int32_t i = 0; next >= 0 && i < p->boxes; ++i) {
        if (active[i] && (i == next || usmp_detection_overlap(boxes + 4 * next, boxes + 4 * i) > p->overlap)) {
            active[i] = 0u;
        }
    }
    return next;
}

static inline void usmp_detection_activate(
    const struct usmp_detection_parameters *p, const usmp_f32 *scores, int32_t step, uint8_t *active)
{
    for (int32_t i = 0; i < p->boxes; ++i) {
        active[i] = scores[i * step] >= p->likely;
    }
}

static inline void usmp_detection_put(
    usmp_f32 *boxes, usmp_f32 *classes, usmp_f32 *scores, int32_t at, const usmp_f32 *box, float class_, float score)
{
    for (int32_t i = 0; i < 4; ++i) {
        boxes[4 * at + i] = box[i];
    }
    classes[at] = class_;
    scores[at] = score;
}

/* Zeros after the last detection. */
static inline void usmp_detection_finish(
    const struct usmp_detection_parameters *p,
    int32_t detected,
    usmp_f32 *boxes,
    usmp_f32 *classes,
    usmp_f32 *scores,
    usmp_f32 *count)
{
    const usmp_f32 nowhere[4] = { 0.0f, 0.0f, 0.0f, 0.0f };

    for (int32_t i = detected; i < p->detections; ++i) {
        usmp_detection_put(boxes, classes, scores, i, nowhere, 0.0f, 0.0f);
    }
    *count = (float)detected;
}

static inline int32_t usmp_detection_likeliest(const usmp_f32 *scores, int32_t classes)
{
    int32_t best = 0;

    for (int32_t i = 1; i < classes; ++i) {
        if (scores[i] > scores[best]) {
            best = i;
        }
    }
    return best;
}

void usmp_detection_of_any_class(
    const struct usmp_detection_parameters *p,
    const usmp_f32 *encodings,
    const usmp_f32 *scores,
    const usmp_f32 *anchors,
    usmp_f32 *boxes,
    usmp_f32 *best,
    uint8_t *active,
    usmp_f32 *output_boxes,
    usmp_f32 *output_classes,
    usmp_f32 *output_scores,
    usmp_f32 *count)
{
    const usmp_f32 *const of_classes = scores + p->background;
    int32_t detected = 0;

    usmp_detection_decode(p, encodings, anchors, boxes);
    for (int32_t i = 0; i < p->boxes; ++i) {
        const usmp_f32 *const own = of_classes + i * p->scores;
        best[i] = own[usmp_detection_likeliest(own, p->classes)];
    }
    usmp_detection_activate(p, best, 1, active);
    while (detected < p->detections) {
        const int32_t next = usmp_detection_next(p, best, 1, boxes, active);
        if (next < 0) {
            break;
        }
        const int32_t class_ = usmp_detection_likeliest(of_classes + next * p->scores, p->classes);
        usmp_detection_put(
            output_boxes, output_classes, output_scores, detected, boxes + 4 * next, (float)class_, best[next]);
        ++detected;
    }
    usmp_detection_finish(p, detected, output_boxes, output_classes, output_scores, count);
}

/* Inserts a detection into the first `detected` ones, which are in order of their scores, after equal ones; the last
 * one is lost where there is no room.  Returns how many there are. */
static inline int32_t usmp_detection_insert(
    const struct usmp_detection_parameters *p,
    int32_t detected,
    usmp_f32 *boxes,
    usmp_f32 *classes,
    usmp_f32 *scores,
    const usmp_f32 *box,
    float class_,
    float score)
{
    int32_t at = detected;

    while (at > 0 && scores[at - 1] < score) {
        if (at < p->detections) {
            usmp_detection_put(boxes, classes, scores, at, boxes + 4 * (at - 1), classes[at - 1], scores[at - 1]);
        }
        --at;
    }
    if (at < p->detections) {
        usmp_detection_put(boxes, classes, scores, at, box, class_, score);
    }
    return detected < p->detections ? detected + 1 : detected;
}

void usmp_detection_by_class(
    const struct usmp_detection_parameters *p,
    const usmp_f32 *encodings,
    const usmp_f32 *scores,
    const usmp_f32 *anchors,
    usmp_f32 *boxes,
    uint8_t *active,
    usmp_f32 *output_boxes,
    usmp_f32 *output_classes,
    usmp_f32 *output_scores,
    usmp_f32 *count)
{
    int32_t detected = 0;

    usmp_detection_decode(p, encodings, anchors, boxes);
    for (int32_t class_ = 0; class_ < p->classes; ++class_) {
        const usmp_f32 *const own = scores + p->background + class_;
        usmp_detection_activate(p, own, p->scores, active);
        for (int32_t i = 0; i < p->per_class; ++i) {
            const int32_t next = usmp_detection_next(p, own, p->scores, boxes, active);
            if (next < 0) {
                break;
            }
            detected = usmp_detection_insert(
                p,
                detected,
                output_boxes,
                output_classes,
                output_scores,
                boxes + 4 * next,
                (float)class_,
                own[next * p->scores]);
        }
    }
    usmp_detection_finish(p, detected, output_boxes, output_classes, output_scores, count);
}
