// First fit in several pools; usmp_build/planner/algorithms/first_fit.py is the same in Python, and explains it.
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
