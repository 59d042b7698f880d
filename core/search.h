// Does a strip fit into a capacity?  Six kinds of walks take turns, each a little longer than the last: how long a
// walk takes depends much on luck, and a rule that is hopeless on one strip finds a plan at once on another.  What
// they learn about sections is kept.  planner/algorithms/exact/walks.py asks for single turns, of searches that it
// interrupts.
#ifndef USMP_SEARCH_H
#define USMP_SEARCH_H

#include <array>
#include <cstdint>
#include <vector>

#include "strip.h"
#include "walk.h"

namespace usmp {

// What a search found out, and its work.
struct Answer {
    Status status;
    std::vector<Units> offsets; // empty unless the strip fits
    std::int64_t nodes;
};

// A linear congruential generator (Numerical Recipes): the same numbers everywhere.
class Noise {
  public:
    Units near(Units middle, std::int64_t percent)
    {
        state_ = state_ * 1664525u + 1013904223u;
        const Units reach = middle * percent / 100;
        return middle - reach + (state_ >> 16) % (2 * reach + 1);
    }

  private:
    std::uint32_t state_ = 1;
};

// Walks through one strip; what they learn about sections is kept from one capacity to the next.
class Search {
  public:
    using Key = std::array<Units, 3>;

    explicit Search(const Strip &strip);

    // Take the next turn, of `nodes` nodes in all at the most: each is half as long again as the one before.
    Answer next(Units capacity, std::int64_t nodes);
    // Take a turn of `limit` nodes with each arm; which turn comes next remains the same.
    Answer turn(Units capacity, std::int64_t nodes, std::int64_t limit);

  private:
    Answer walk(Units capacity, std::int64_t nodes, std::int64_t limit, std::int64_t percent);

    const Strip &strip_;
    Walk walk_;
    std::vector<Key> keys_;
    Noise noise_;
    std::int64_t limit_; // nodes of each arm in the next turn
    std::int64_t turns_ = 0;
};

// Look for offsets so that everything ends at `capacity` or below; give up after `nodes` nodes.
Answer search(const Strip &strip, Units capacity, std::int64_t nodes);

} // namespace usmp

#endif
