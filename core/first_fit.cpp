#include "first_fit.h"

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
            break; // and below all further intervals
        }
        if (offset < above) {
            offset = align_up(above, alignment);
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

FirstFit::FirstFit(std::vector<Units> limits, std::vector<Placeable> buffers)
    : limits_(std::move(limits)), buffers_(std::move(buffers))
{
}

std::size_t FirstFit::place(const std::vector<int> &order, bool overflow, std::vector<Place> &places) const
{
    Taken taken;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        take(buffers_[i], places[i], taken);
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
        const Placeable &buffer = buffers_[order[done]];
        const Place place = best_place(buffer, overflow, places, taken);
        if (place.pool == NO_POOL) {
            return done;
        }
        places[order[done]] = place;
        take(buffer, place, taken);
    }
    return order.size();
}

// The first pool with room; with `overflow`, else the one whose limit it exceeds least.
Place FirstFit::best_place(const Placeable &buffer, bool overflow, const std::vector<Place> &places,
                          const Taken &taken) const
{
    Place best = {NO_POOL, 0};
    Units least = 0;
    for (const int pool : buffer.pools) {
        Intervals intervals = forbidden(buffer, pool, places, taken);
        Units offset = buffer.fixed;
        if (offset == NO_PLACE) {
            offset = least_free(intervals, buffer.alignment);
        } else if (offset < 0 || offset % buffer.alignment != 0 || !is_free(intervals, offset)) {
            continue;
        }
        const Units beyond = offset + buffer.size - limits_[pool];
        if (beyond <= 0) {
            return {pool, offset};
        }
        if (overflow && (best.pool == NO_POOL || beyond < least)) {
            best = {pool, offset};
            least = beyond;
        }
    }
    return best;
}

// The open intervals of offsets at which a buffer would be too close to another.
FirstFit::Intervals FirstFit::forbidden(const Placeable &buffer, int pool, const std::vector<Place> &places,
                                      const Taken &taken)
{
    Intervals intervals;
    for (const Neighbor &near : buffer.neighbors) {
        const Place &place = places[near.other];
        if (place.pool == pool) {
            intervals.emplace_back(place.offset - near.above, place.offset + near.below);
        }
    }
    const auto ranges = taken.find({buffer.clique, pool});
    if (ranges != taken.end()) {
        for (const auto &[start, stop] : ranges->second) {
            intervals.emplace_back(start - buffer.size, stop);
        }
    }
    return intervals;
}

// All members of a clique conflict, so what those placed before take is remembered as ranges, mostly one for each pool.
void FirstFit::take(const Placeable &buffer, const Place &place, Taken &taken)
{
    if (buffer.clique == NO_CLIQUE || place.pool == NO_POOL) {
        return;
    }
    Intervals &ranges = taken[{buffer.clique, place.pool}];
    std::pair<Units, Units> joined = {place.offset, place.offset + buffer.size};
    const auto touching = [&](const auto &each) { return each.first <= joined.second && joined.first <= each.second; };
    auto apart = std::stable_partition(ranges.begin(), ranges.end(), [&](const auto &each) { return !touching(each); });
    for (auto each = apart; each != ranges.end(); ++each) {
        joined = {std::min(joined.first, each->first), std::max(joined.second, each->second)};
    }
    ranges.erase(apart, ranges.end());
    ranges.push_back(joined);
}

} // namespace usmp
