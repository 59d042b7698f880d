// First fit in several pools, for one order after another; planner/algorithms/first_fit.py explains it, and does the
// same for a single order.
#ifndef USMP_POOL_FIT_H
#define USMP_POOL_FIT_H

#include <utility>
#include <vector>

#include "strip.h"

namespace usmp {

struct Placeable {
    Units size;
    Units alignment;
    Units fixed; // -1 where the offset is free
    std::vector<int> pools;
    std::vector<Neighbor> neighbors;
};

struct Place {
    int pool; // -1 where it has none
    Units offset;
};

class PoolFit {
  public:
    // A limit of -1 is none.
    PoolFit(std::vector<Units> limits, std::vector<Placeable> buffers);

    // Return places by buffer; those of the first buffer that finds no room, and of all after it, have no pool.
    std::vector<Place> placed(const std::vector<int> &order) const;

  private:
    Place first_place(const Placeable &buffer, const std::vector<Place> &places) const;

    std::vector<Units> limits_;
    std::vector<Placeable> buffers_;
};

} // namespace usmp

#endif
