// Offsets, which are counted in bytes or in units of several bytes.
#ifndef USMP_OFFSET_H
#define USMP_OFFSET_H

#include <cstdint>
#include <limits>

namespace usmp {

using Units = std::int64_t;

// In place of an offset: not placed yet, or free.  No offset is so low, not even one that is refused.
constexpr Units NO_PLACE = std::numeric_limits<Units>::min();

// The offset is not negative.
inline Units align_up(Units offset, Units alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

} // namespace usmp

#endif
