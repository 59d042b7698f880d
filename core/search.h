// Does a strip fit into a capacity?  usmp_build/algorithms/exact/search.py is the same in Python, and explains it.
#ifndef USMP_SEARCH_H
#define USMP_SEARCH_H

#include <cstdint>
#include <vector>

#include "strip.h"

namespace usmp {

enum class Status { fits, impossible, unknown };

// What a search found out, and its work.
struct Answer {
    Status status;
    std::vector<Units> offsets; // empty unless the strip fits
    std::int64_t nodes;
};

// Look for offsets so that everything ends at `capacity` or below; give up after so many nodes.
Answer search(const Strip &strip, Units capacity, std::int64_t nodes);

} // namespace usmp

#endif
