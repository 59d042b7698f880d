#include "spans.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace usmp {

Spans::Spans(std::vector<Units> sizes, std::vector<Units> alignments, std::vector<std::vector<Neighbor>> neighbors)
    : sizes_(std::move(sizes)), alignments_(std::move(alignments)), odd_(neighbors.size()), loose_(neighbors.size()),
      inside_(neighbors.size())
{
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        for (const Neighbor &near : neighbors[i]) {
            if (near.above != sizes_[i] || near.below <= 0) {
                odd_[i].push_back(near);
            }
            if (near.above < sizes_[i] || near.below < sizes_[near.other]) {
                loose_[i].push_back(near);
            }
        }
    }
}

std::vector<Units> Spans::added(const std::vector<int> &section)
{
    for (int i : section) {
        inside_[i] = true;
    }
    std::vector<Units> kept;
    bool is_loose = false;
    for (int i : section) {
        kept.push_back(distance_kept(i, section.size()));
        is_loose = is_loose || std::any_of(loose_[i].begin(), loose_[i].end(),
                                           [&](const Neighbor &near) { return inside_[near.other]; });
    }
    for (int i : section) {
        inside_[i] = false;
    }
    if (is_loose) {
        const std::vector<Units> other = unshared(section);
        if (std::accumulate(other.begin(), other.end(), Units{0}) >
            std::accumulate(kept.begin(), kept.end(), Units{0})) {
            return other;
        }
    }
    return kept;
}

// The least distance from the start of a buffer to any other of the section that is above it.  It exceeds the size
// where alignment requires, and is 0 where another may start lower without being below.
Units Spans::distance_kept(int buffer, std::size_t members) const
{
    std::size_t count = 0;
    Units least = std::numeric_limits<Units>::max();
    for (const Neighbor &near : odd_[buffer]) {
        if (inside_[near.other]) {
            ++count;
            least = std::min(least, near.below > 0 ? near.above : 0);
        }
    }
    if (count + 1 < members || count == 0) {
        least = std::min(least, sizes_[buffer]);
    }
    return std::max<Units>(0, least);
}

// What buffers add, the largest one first, when each pair shares as much as it may.  Shared bytes are rounded up to the
// largest unit at whose multiples all buffers start, so that the count holds in it.
std::vector<Units> Spans::unshared(const std::vector<int> &section) const
{
    Units unit = 0;
    std::vector<std::size_t> largest_first;
    for (std::size_t place = 0; place < section.size(); ++place) {
        unit = std::gcd(unit, alignments_[section[place]]);
        largest_first.push_back(place);
    }
    std::stable_sort(largest_first.begin(), largest_first.end(),
                     [&](std::size_t a, std::size_t b) { return sizes_[section[a]] > sizes_[section[b]]; });
    std::vector<Units> added(section.size());
    std::vector<bool> before(sizes_.size());
    for (std::size_t place : largest_first) {
        const int one = section[place];
        Units shared = 0;
        for (const Neighbor &near : loose_[one]) {
            if (before[near.other]) {
                const Units most = std::max(sizes_[one] - near.above, sizes_[near.other] - near.below);
                const Units common = std::min({sizes_[one], sizes_[near.other], most});
                shared += (std::max<Units>(0, common) + unit - 1) / unit * unit;
            }
        }
        if (shared < sizes_[one]) {
            added[place] = sizes_[one] - shared;
            before[one] = true;
        }
    }
    return added;
}

} // namespace usmp
