#include "pool_fit.h"

#include <algorithm>

namespace usmp {

namespace {

using Intervals = std::vector<std::pair<Units, Units>>; // open

Units least_free(Intervals &intervals, Units alignment)
{
    std::sort(intervals.begin(), intervals.end());
    Units offset = 0;
    for (const auto &[below, above] : intervals) {
        if (offset <= below) {
            break;
        }
        if (offset < above) {
            offset = (above + alignment - 1) / alignment * alignment;
        }
    }
    return offset;
}

bool is_free(const Intervals &intervals, Units offset)
{
    return std::none_of(intervals.begin(), intervals.end(),
                        [&](const auto &each) { return each.first < offset && offset < each.second; });
}

} // namespace

PoolFit::PoolFit(std::vector<Units> limits, std::vector<Placeable> buffers)
    : limits_(std::move(limits)), buffers_(std::move(buffers))
{
}

std::vector<Place> PoolFit::placed(const std::vector<int> &order) const
{
    std::vector<Place> places(buffers_.size(), Place{-1, 0});
    for (const int index : order) {
        places[index] = first_place(buffers_[index], places);
        if (places[index].pool < 0) {
            break;
        }
    }
    return places;
}

Place PoolFit::first_place(const Placeable &buffer, const std::vector<Place> &places) const
{
    Intervals intervals;
    for (const int pool : buffer.pools) {
        intervals.clear();
        for (const Neighbor &near : buffer.neighbors) {
            const Place &place = places[near.other];
            if (place.pool == pool) {
                intervals.emplace_back(place.offset - near.above, place.offset + near.below);
            }
        }
        if (buffer.fixed >= 0 && (buffer.fixed % buffer.alignment != 0 || !is_free(intervals, buffer.fixed))) {
            continue;
        }
        const Units offset = buffer.fixed >= 0 ? buffer.fixed : least_free(intervals, buffer.alignment);
        if (limits_[pool] < 0 || offset + buffer.size <= limits_[pool]) {
            return {pool, offset};
        }
    }
    return {-1, 0};
}

} // namespace usmp
