// How many units each buffer adds to a section.  Two ways to count are sound for any buffers of it, and the one with
// the greater sum is used:
//
//     distance kept    a buffer adds the least distance from its start to any buffer above it: less than its size where
//                      these may overlap, more where alignment requires
//     bytes shared     the first buffer adds its size, each further one its size less what it may share with those
//                      before it: a union is at least the sum less what pairs have in common
//
// A kernel that works in place, from 8 units to 6, keeps no distance, for both may start at one offset; but they share
// no more than 6, so they add 8 and 0.
#ifndef USMP_SPANS_H
#define USMP_SPANS_H

#include <vector>

#include "strip.h"

namespace usmp {

class Spans {
  public:
    Spans(std::vector<Units> sizes, std::vector<Units> alignments, std::vector<std::vector<Neighbor>> neighbors);

    // Return the units that each member of a section adds.
    std::vector<Units> added(const std::vector<int> &section);

  private:
    Units distance_kept(int buffer, std::size_t members) const;
    std::vector<Units> unshared(const std::vector<int> &section) const;

    std::vector<Units> sizes_;
    std::vector<Units> alignments_;
    std::vector<std::vector<Neighbor>> odd_;   // those that do not start at the end of a buffer
    std::vector<std::vector<Neighbor>> loose_; // those that may share bytes with it
    std::vector<bool> inside_;                 // of the section
};

} // namespace usmp

#endif
