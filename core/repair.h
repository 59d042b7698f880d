// Search again around each buffer that is too high.
//
// A core is a range of sections that contains a buffer above the target, and a margin.  If the search places all that
// is alive there below the target, first fit places the buffers around it again.  If these do not end below the
// target, too, all of that is undone.  Narrow margins are tried first, then wide ones.
//
// The target is the greatest load.  Where that is not reached, targets between it and the peak are tried, and then all
// of them again with more effort.
#ifndef USMP_REPAIR_H
#define USMP_REPAIR_H

#include "cut.h"
#include "timeline_fit.h"

namespace usmp {

class Repair {
  public:
    // Look at so much and no more.
    Repair(const Sections &sections, TimelineFit &plan, std::int64_t work)
        : sections_(sections), plan_(plan), limit_(plan.work + work)
    {
    }

    // Bring the peak down to the greatest load, or near it.
    void run();

  private:
    // How far to go around what is too high, and how long to search.
    struct Attempt {
        Bytes target;
        int effort;
        Index margin;
        Index reach;
    };

    bool bring_below(Bytes target, int effort);
    std::vector<Range> cores(const Indices &high, Index margin) const;
    void relieve(Range core, const Attempt &attempt);
    void move(const Cut &cut, const std::vector<Bytes> &offsets, Bytes target);
    bool put_back(Indices ring, Bytes target);
    bool is_spent() const { return plan_.work >= limit_; }

    const Sections &sections_;
    TimelineFit &plan_;
    const std::int64_t limit_;
};

} // namespace usmp

#endif
