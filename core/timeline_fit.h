// First fit for timelines, in three orders.  Each buffer is placed as low as those placed before it allow.
//
// By load, buffers of the fullest sections come first, and long-lived ones before short-lived ones.  By size, large
// ones come first; by length, long-lived ones, compared by the power of two.  Both break ties by load.
//
// Or buffers are stacked: next is always one that can be lowest on top of those placed before it.  That fills each
// valley before anything is built across it, which suits long-lived buffers among many short-lived ones.
#ifndef USMP_TIMELINE_FIT_H
#define USMP_TIMELINE_FIT_H

#include <utility>

#include "sections.h"

namespace usmp {

// What is placed first: buffers of the fullest sections, large ones, or long-lived ones.
enum class Order { load, size, length };

// Where buffers are, or NO_PLACE.
class TimelineFit {
  public:
    TimelineFit(const Sections &sections, Order order);

    // Place all buffers; once this many were looked at, put the rest on top of the others.
    void place_all(std::int64_t most);
    // Place all buffers, always one that can be lowest on top of those placed before it; of several, the first in the
    // order, or the one of the fullest sections with the largest area.  The rest is put on top as above.
    void stack_all(bool by_area, std::int64_t most);
    // Return the least offset at which nobody is who is alive together with this buffer.
    Bytes least_free(Index buffer);

    Bytes end(Index buffer) const;
    Bytes peak() const;
    const Alive &alive() const { return alive_; }

    std::vector<Bytes> offsets;
    Indices turns;         // of each buffer: when it is placed
    std::int64_t work = 0; // buffers looked at

  private:
    void pile_rest();

    const Sections &sections_;
    const Alive alive_;
    const std::vector<Bytes> loads_; // of each buffer, its fullest section
    Indices order_;
    std::vector<std::pair<Bytes, Bytes>> taken_;
};

} // namespace usmp

#endif
