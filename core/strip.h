// The nouns of the search; planner/algorithms/exact/strip.py draws a picture of them.
#ifndef USMP_STRIP_H
#define USMP_STRIP_H

#include <vector>

#include "offset.h"

namespace usmp {

// Two buffers in conflict: `other` starts at least `above` after this one, or this one at least `below` after it.
struct Neighbor {
    int other;
    Units above;
    Units below;
};

// A buffer counts as many units in each of these sections.
struct Span {
    int first;
    int last;
    Units units;
};

// What one pool must hold; every vector has an entry for each buffer.
struct Strip {
    std::vector<Units> sizes;
    std::vector<Units> alignments;
    std::vector<Units> fixed; // offsets, or NO_PLACE
    std::vector<std::vector<Neighbor>> neighbors;
    std::vector<std::vector<Span>> spans;
    int sections;
    bool linear;
};

} // namespace usmp

#endif
