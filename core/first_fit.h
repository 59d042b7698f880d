// First fit in several pools; planner/algorithms/first_fit.py explains it.
#ifndef USMP_FIRST_FIT_H
#define USMP_FIRST_FIT_H

#include <map>
#include <utility>
#include <vector>

#include "strip.h"

namespace usmp {

constexpr int NO_CLIQUE = -1;
constexpr int NO_POOL = -1;

struct Placeable {
    Units size;
    Units alignment;
    Units fixed; // an offset, or NO_PLACE
    int clique;  // or NO_CLIQUE
    std::vector<int> pools;
    std::vector<Neighbor> neighbors; // none in a clique
};

struct Place {
    int pool; // or NO_POOL
    Units offset;
};

class FirstFit {
  public:
    // The bytes of each pool; the most that there are where it has no limit.
    FirstFit(std::vector<Units> limits, std::vector<Placeable> buffers);

    // Place buffers in this order beside those that have places.  Return how many found room; the next one is stuck.
    std::size_t place(const std::vector<int> &order, bool overflow, std::vector<Place> &places) const;

  private:
    using Intervals = std::vector<std::pair<Units, Units>>;
    using Taken = std::map<std::pair<int, int>, Intervals>; // ranges by clique and pool, of which no two touch

    Place best_place(const Placeable &buffer, bool overflow, const std::vector<Place> &places,
                     const Taken &taken) const;
    static Intervals forbidden(const Placeable &buffer, int pool, const std::vector<Place> &places, const Taken &taken);
    static void take(const Placeable &buffer, const Place &place, Taken &taken);

    std::vector<Units> limits_;
    std::vector<Placeable> buffers_;
};

} // namespace usmp

#endif
