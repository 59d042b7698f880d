// Plans for very many buffers in one pool; planner/algorithms/timelines.py explains them.
#ifndef USMP_TIMELINES_H
#define USMP_TIMELINES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace usmp {

// As in usmp_build/planner/memory/timeline.py, which makes sure that sums of bytes fit into 64 bits; fewer than 2^30
// buffers.
struct Timeline {
    const std::int64_t *lower;
    const std::int64_t *upper;
    const std::int64_t *size;
    const std::int64_t *alignment;
    std::size_t count;
};

// Offsets in the order of the buffers.  `work` counts what the first plan and its repair looked at.
struct TimelinePlan {
    std::vector<std::int64_t> offsets;
    std::int64_t work;
};

// `work` bounds the repair, and, with some for each buffer, the first plan.
TimelinePlan plan_timeline(const Timeline &timeline, std::int64_t work);

} // namespace usmp

#endif
