// Places buffers as they are born, and moves others out of the way; planner/algorithms/moving.py explains it.
#ifndef USMP_MOVING_H
#define USMP_MOVING_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "strip.h"

namespace usmp {

// A buffer, alive from step `first` to `last`; buffers are ordered by `first`.
struct Movable {
    Units size;
    Units alignment;
    std::int64_t first;
    std::int64_t last;
    bool may_move;
    std::vector<Neighbor> near; // those before it that need another distance than the size of the lower one
};

// Before a step, a buffer goes to another offset.
struct Relocation {
    std::int64_t step;
    int buffer;
    Units offset;
};

struct Movements {
    bool is_done; // whether all found room
    std::vector<Units> births;
    std::vector<Relocation> moves; // in the order in which they can be made
};

// Where a buffer goes if there are several gaps that it fits into.
enum class Rule { NARROWEST, LOWEST, HIGHEST };

class Moving {
  public:
    // Before the steps that are not `free`, nothing moves.
    Moving(std::vector<Movable> buffers, std::vector<bool> free);

    Movements within(Units capacity, Rule rule, std::int64_t &visits) const;

  private:
    struct Layout {
        std::vector<int> alive; // by offset
        std::vector<Units> at;  // offset of each buffer that is alive
    };
    struct Change {
        Units bytes = -1; // that are moved; negative: none is known
        std::vector<std::pair<int, Units>> places;
        std::vector<int> order; // of the moves
    };

    Units distance(int below, int above) const;
    bool fits(const Layout &now, int buffer, Units offset, Units capacity) const;
    std::vector<Units> candidates(const Layout &now, int buffer, Units capacity) const;
    bool place(Layout &now, int buffer, Units capacity, Rule rule) const;
    void push_apart(const Layout &now, int buffer, std::size_t below, Units offset, Units capacity,
                    Change &best) const;
    void insert_between(const Layout &now, int buffer, Units capacity, Change &best) const;
    void clear_away(const Layout &now, int buffer, Units offset, Units capacity, Change &best) const;
    std::vector<Units> ends(const Layout &now, int buffer, Units capacity) const;
    Change room_for(const Layout &now, int buffer, Units capacity, const std::vector<Units> &offsets) const;
    bool admit(Layout &now, int buffer, Units capacity, Rule rule, Movements &made) const;
    bool gives_way(int other, int buffer, const Change &best, Units &bytes) const;
    void keep_if_better(const Layout &now, int buffer, Units bytes, std::vector<std::pair<int, Units>> places,
                        Change &best) const;
    bool in_sequence(const Layout &now, const std::vector<std::pair<int, Units>> &places, std::int64_t step,
                     std::vector<int> &order) const;

    std::vector<Movable> buffers_;
    std::vector<bool> free_;
    std::vector<std::vector<std::pair<int, Units>>> distances_; // below → (above, distance), if that is not the size
};

} // namespace usmp

#endif
