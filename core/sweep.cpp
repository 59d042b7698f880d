#include "sweep.h"

#include <algorithm>
#include <unordered_map>

namespace usmp {

namespace {

constexpr std::size_t WIDTH = 15; // packings that go on after each buffer

struct Hash {
    std::size_t operator()(const std::vector<Units> &offsets) const
    {
        std::uint64_t hash = 14695981039346656037u; // Fowler, Noll, Vo
        for (const Units offset : offsets) {
            hash = (hash ^ static_cast<std::uint64_t>(offset)) * 1099511628211u;
        }
        return static_cast<std::size_t>(hash ^ hash >> 32);
    }
};

// The least and the greatest offset of each range, up to `highest`, that open intervals leave free for a buffer.
std::vector<Units> ends_of_room(std::vector<std::pair<Units, Units>> &forbidden, const Swept &buffer, Units highest)
{
    std::vector<Units> ends;
    Units start = 0;
    std::sort(forbidden.begin(), forbidden.end());
    forbidden.emplace_back(highest, highest + 1);
    for (const auto &[low, high] : forbidden) {
        const Units end = std::min(low, highest);
        if (start <= end && buffer.fixed != NO_PLACE) {
            if (start <= buffer.fixed && buffer.fixed <= end) {
                ends.push_back(buffer.fixed);
            }
        } else if (start <= end) {
            const Units least = align_up(start, buffer.alignment);
            const Units greatest = end / buffer.alignment * buffer.alignment;
            if (least <= greatest) {
                ends.push_back(least);
            }
            if (least < greatest) {
                ends.push_back(greatest);
            }
        }
        start = std::max(start, high);
    }
    return ends;
}

} // namespace

Sweep::Sweep(std::vector<Swept> order) : order_(std::move(order))
{
    std::vector<int> active;
    for (std::size_t place = 0; place < order_.size(); ++place) {
        near_.emplace_back();
        for (const Neighbor &near : order_[place].near) {
            const auto at = std::lower_bound(active.begin(), active.end(), near.other);
            near_.back().push_back(static_cast<std::size_t>(at - active.begin()));
        }
        active.push_back(static_cast<int>(place));
        const std::vector<int> &done = order_[place].done;
        kept_.emplace_back();
        std::vector<int> left;
        for (std::size_t at = 0; at < active.size(); ++at) {
            if (std::find(done.begin(), done.end(), active[at]) == done.end()) {
                kept_.back().push_back(at);
                left.push_back(active[at]);
            }
        }
        active = std::move(left);
    }
}

std::vector<Sweep::Around> Sweep::around(std::size_t place, const Packing &packing) const
{
    std::vector<Around> found;
    for (std::size_t i = 0; i < near_[place].size(); ++i) {
        const Neighbor &near = order_[place].near[i];
        const Units at = packing.offsets[near_[place][i]];
        found.push_back({at, at - near.above, at + near.below, at + order_[near.other].size});
    }
    return found;
}

// On how many sides of a buffer bytes are free up to the next one that does not overlap it.
int Sweep::sides_with_gaps(const std::vector<Around> &around, Units offset, Units end, Units capacity)
{
    Units below = 0;
    Units above = capacity;
    for (const Around &other : around) {
        if (other.end <= offset) {
            below = std::max(below, other.end);
        } else if (other.at >= end) {
            above = std::min(above, other.at);
        }
    }
    return (below < offset) + (above > end);
}

std::vector<Units> Sweep::following(std::size_t place, const Packing &packing, Units offset) const
{
    std::vector<Units> offsets;
    for (const std::size_t at : kept_[place]) {
        offsets.push_back(at < packing.offsets.size() ? packing.offsets[at] : offset);
    }
    return offsets;
}

std::pair<std::vector<Units>, std::int64_t> Sweep::packed(Units capacity, std::int64_t visits) const
{
    std::vector<std::vector<Packing>> steps = {{{0, {}, 0, 0}}};
    std::vector<std::pair<Units, Units>> forbidden;
    for (std::size_t place = 0; place < order_.size(); ++place) {
        const Swept &buffer = order_[place];
        std::vector<Packing> next;
        std::unordered_map<std::vector<Units>, std::size_t, Hash> known;
        for (std::size_t parent = 0; parent < steps.back().size(); ++parent) {
            const Packing &packing = steps.back()[parent];
            const std::vector<Around> others = around(place, packing);
            forbidden.clear();
            for (const Around &other : others) {
                forbidden.emplace_back(other.low, other.high);
            }
            for (const Units offset : ends_of_room(forbidden, buffer, capacity - buffer.size)) {
                visits -= static_cast<std::int64_t>(others.size());
                const std::int64_t gaps =
                    packing.gaps + sides_with_gaps(others, offset, offset + buffer.size, capacity) * buffer.weight;
                Packing candidate = {gaps, following(place, packing, offset), parent, offset};
                const auto [at, is_new] = known.emplace(candidate.offsets, next.size());
                if (is_new) {
                    next.push_back(std::move(candidate));
                } else if (gaps < next[at->second].gaps) {
                    next[at->second] = std::move(candidate);
                }
            }
        }
        std::stable_sort(next.begin(), next.end(), [](const Packing &a, const Packing &b) { return a.gaps < b.gaps; });
        next.resize(std::min(next.size(), WIDTH), Packing{});
        if (next.empty() || visits <= 0) {
            return {{}, visits};
        }
        steps.push_back(std::move(next));
    }
    std::vector<Units> offsets(order_.size());
    std::size_t index = 0;
    for (std::size_t place = order_.size(); place > 0; --place) {
        const Packing &packing = steps[place][index];
        offsets[place - 1] = packing.offset;
        index = packing.parent;
    }
    return {offsets, visits};
}

} // namespace usmp
