// Packs buffers along time; planner/algorithms/sweep.py explains it, and chooses orders and capacities.
#ifndef USMP_SWEEP_H
#define USMP_SWEEP_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "strip.h"

namespace usmp {

// What is placed at one place of the order.
struct Swept {
    Units size;
    Units alignment;
    Units fixed; // an offset, or NO_PLACE
    std::int64_t weight;
    std::vector<Neighbor> near; // what is placed before it and conflicts with it, by place
    std::vector<int> done;      // places that nothing after it conflicts with
};

class Sweep {
  public:
    explicit Sweep(std::vector<Swept> order);

    // Return offsets by place, empty where no packing got to the end, and how many of the visits are left.
    std::pair<std::vector<Units>, std::int64_t> packed(Units capacity, std::int64_t visits) const;

  private:
    struct Packing {
        std::int64_t gaps;
        std::vector<Units> offsets; // of what later buffers may conflict with, by place
        std::size_t parent;         // in the step before
        Units offset;               // of the last buffer
    };
    struct Around {
        Units at;
        Units low; // no offset between these two is allowed
        Units high;
        Units end;
    };

    std::vector<Around> around(std::size_t place, const Packing &packing) const;
    static int sides_with_gaps(const std::vector<Around> &around, Units offset, Units end, Units capacity);
    std::vector<Units> following(std::size_t place, const Packing &packing, Units offset) const;

    std::vector<Swept> order_;
    std::vector<std::vector<std::size_t>> near_; // where `near` is among these offsets
    std::vector<std::vector<std::size_t>> kept_; // which of them are kept after a place; the new one counts as the last
};

} // namespace usmp

#endif
