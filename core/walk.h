// One walk through the search tree: place a buffer as low as it can be, or have it undercut.
//
// The state is a floor for every buffer, a lower bound of its offset.  A choice takes one buffer c, and branches:
//
//     left    c is at its floor, and every neighbor that is not placed yet starts above it
//     right   c is undercut: some neighbor starts lower than c at its floor would let it, so c has a *hole*: it cannot
//             be chosen again before such a neighbor is placed
//
//         left       ________              right    _________
//                   |___d____|                     |____c____|
//                _________                             ________
//               |____c____|                         : |___d____|
//     floor ----+---------+-------------------------+------------
//     of c                                        hole
//
// This is complete: take a plan that fits and whose offsets have the least sum.  If no unplaced neighbor starts lower
// than c at its floor lets it, c itself is at its floor, or it could be moved there and the sum would be less.  So
// each plan of that kind is in exactly one branch, whichever buffer is chosen, and any rule may choose.  For the same
// reason, a neighbor that would have fitted under c, but now goes above it, leaves a hole.  "Above" is meant as
// separations have it: where they are 0 or less, a buffer that is above may start lower.
//
// Four rules propagate a state, until nothing changes:
//
//     holes      some neighbor must be able to fill every hole, and its owner starts after the earliest end of these
//     lowest     a buffer that cannot be the lowest of a section, as the rest would not fit above it, is above another
//     pairs      of two that may share bytes, one is above the other, and has room there
//     sections   in every section and for every offset, what starts at or above it must fit between it and the capacity
//
// The rule for pairs, which decides a whole chain of buffers each of which may overlap the next:
//
//     floor of i + above(i, k) + tail of k > capacity    then k is not above i, so i is above k
//
//     floor of i >= floor of k + below(i, k)             what follows below
//     tail of k  >= below(i, k) + tail of i              what follows above; at first, a tail is a buffer's own size
#ifndef USMP_WALK_H
#define USMP_WALK_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "strip.h"

namespace usmp {

constexpr int NONE = -1; // no buffer, no section, no hole
constexpr Units INFINITE = std::numeric_limits<Units>::max() / 4;

// The sections from the first to the last that a buffer is in.
inline std::pair<int, int> hull(const std::vector<Span> &spans)
{
    return {spans.front().first, spans.back().last};
}

enum class Status { fits, impossible, unknown };

// How a walk chooses the buffer to branch on.
struct Arm {
    bool fail_first;
    std::vector<int> ranks; // of each buffer; less is earlier
};

class Walk {
  public:
    explicit Walk(const Strip &strip);

    // Walk from the root with weights that were learned before, maybe at another capacity.
    Status run(Units capacity, const Arm &arm, std::int64_t nodes);

    const std::vector<Units> &offsets() const { return state_.floors; }
    std::int64_t nodes() const { return nodes_; }

  private:
    using Part = std::vector<int>;
    using Ranges = std::vector<std::pair<Units, Units>>; // open intervals of offsets

    struct State {
        std::vector<Units> floors; // no offset is less; of a placed buffer, its offset
        std::vector<Units> holes;  // where a buffer would leave a hole, in which something must start; or NONE
        std::vector<char> placed;
    };

    struct Change {
        int buffer;
        Units floor;
        Units hole;
        char placed;
    };

    // A choice, whose other branch may be open; or, without a buffer, parts that are to be solved one after the other.
    struct Frame {
        int buffer;
        bool other_branch;
        std::size_t mark;
        Part part;
        std::vector<Part> parts;
    };

    void reset();
    bool enter(Part part);
    bool fail();
    std::vector<Part> split(const Part &part) const;
    bool branch(Part part);
    void place(int buffer);

    bool propagate(Part &part);
    bool holes_can_be_filled(const Part &part, bool &changed);
    bool raise_those_not_lowest(const Part &part, bool &changed);
    bool pairs_have_room(const Part &part, bool &changed);
    bool pair_has_room(int buffer, const Neighbor &neighbor, bool &moved, bool &raised);
    bool sections_have_room(Part &part);
    void load(const Part &part);

    int choose(const Part &part) const;
    int walk_down(int chosen) const;
    int choose_lowest(const Part &part) const;
    int tightest_section(const Part &part) const;
    bool earlier(int one, int other) const;

    Units lift(int buffer, Units offset) const;
    void save(int buffer);
    void raise(int buffer, Units floor);
    void undo(std::size_t mark);

    const Strip &strip_;
    Units capacity_ = 0;
    std::vector<Ranges> forbidden_; // ascending and apart; by fixed neighbors
    std::vector<std::vector<Neighbor>> pairs_; // free neighbors that come later and may share bytes
    std::vector<Units> kept_off_; // how far every neighbor starts after a buffer; empty where no pair may share bytes
    std::vector<Units> tails_;    // what a buffer and those after it need
    std::vector<std::int64_t> weights_;
    const Arm *arm_ = nullptr;
    std::int64_t nodes_ = 0;

    State state_;
    std::vector<Change> trail_;
    std::vector<Frame> frames_;
    Part current_;
    int first_ = 0; // sections of the part that is looked at
    int last_ = 0;
    // Of each section, as far as the part goes.
    std::vector<Units> loads_; // what is to be placed, but for `spare_`
    std::vector<Units> spare_; // what of it may lie after the end of the last buffer
    std::vector<Units> tops_, least_, second_;
    std::vector<int> least_owner_;
    mutable std::vector<int> counts_;
};

} // namespace usmp

#endif
