// One walk through the search tree; usmp_build/planner/algorithms/exact/walk.py is the same in Python, and explains it.
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
