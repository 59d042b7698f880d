// The part of a plan that is searched again:
//
//     offset ^    :     |  core   |      :
//            |    : rr  |mmmmm  mm|   rr :         m  members: alive in the core; the search places them
//            |    :rrr  mmmmmm    |   rrr:         r  the ring: first fit places them again, around the members
//            |  ff:fffff|     mmmmmm   ff:ffff     f  fixed: alive beyond what is cut out, so they stay
//            +----:-----+---------+------:--->
//
// The search succeeds if members end below the target, and after that the ring does, too.
#ifndef USMP_CUT_H
#define USMP_CUT_H

#include "timeline_fit.h"
#include "strip.h"

namespace usmp {

// Bytes that buffers take that stay: one, or several that touch and live as long as any member.
struct Obstacle {
    Range life;
    Bytes offset;
    Bytes size;
};

// The buffers around a core: those that the search places, those that first fit places again, those that stay.
struct Cut {
    Indices members;
    Indices ring;
    std::vector<Obstacle> fixed; // only those that meet members
};

// Cut out what is alive in a core and nowhere beyond `around`, which contains it.
Cut cut_out(const Sections &sections, const TimelineFit &plan, Range core, Range around);

// Ask for places of the members.
Strip make_strip(const Sections &sections, const Cut &cut, Range core);

} // namespace usmp

#endif
