// The tree that a walk goes through: parts, branches, and the way back.  rules.cpp has what it infers and chooses.
#include "walk.h"

#include <algorithm>
#include <iterator>

namespace usmp {

namespace {

std::vector<std::vector<Neighbor>> pairs_of(const Strip &strip)
{
    std::vector<std::vector<Neighbor>> pairs(strip.sizes.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        for (const Neighbor &near : strip.neighbors[i]) {
            const bool share = near.above < strip.sizes[i] || near.below < strip.sizes[near.other];
            const bool free = strip.fixed[i] == NO_PLACE && strip.fixed[near.other] == NO_PLACE;
            if (share && free && static_cast<int>(i) < near.other) {
                pairs[i].push_back(near);
            }
        }
    }
    return pairs;
}

// Sort open intervals, and join those that overlap; those that touch leave an offset between them.
void join(std::vector<std::pair<Units, Units>> &ranges)
{
    std::sort(ranges.begin(), ranges.end());
    std::size_t count = 0;
    for (const auto &range : ranges) {
        if (range.first + 1 >= range.second) {
            continue; // no offset is in it
        }
        if (count > 0 && range.first < ranges[count - 1].second) {
            ranges[count - 1].second = std::max(ranges[count - 1].second, range.second);
        } else {
            ranges[count++] = range;
        }
    }
    ranges.resize(count);
}

std::vector<Units> kept_off(const Strip &strip, const std::vector<std::vector<Neighbor>> &pairs)
{
    std::vector<Units> kept;
    if (std::any_of(pairs.begin(), pairs.end(), [](const auto &some) { return !some.empty(); })) {
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            Units least = strip.neighbors[i].empty() ? strip.sizes[i] : INFINITE;
            for (const Neighbor &near : strip.neighbors[i]) {
                least = std::min(least, near.below > 0 ? near.above : 0);
            }
            kept.push_back(std::max<Units>(0, least));
        }
    }
    return kept;
}

} // namespace

Walk::Walk(const Strip &strip)
    : strip_(strip), forbidden_(strip.sizes.size()), pairs_(pairs_of(strip)),
      kept_off_(kept_off(strip, pairs_)), tails_(strip.sizes.size()), weights_(strip.sections, 1),
      loads_(strip.sections), spare_(strip.sections), tops_(strip.sections), least_(strip.sections), second_(strip.sections),
      least_owner_(strip.sections), counts_(strip.sections)
{
    state_ = {std::vector<Units>(strip.sizes.size()), std::vector<Units>(strip.sizes.size()),
              std::vector<char>(strip.sizes.size())};
    for (std::size_t i = 0; i < strip.sizes.size(); ++i) {
        for (const Neighbor &neighbor : strip.neighbors[i]) {
            const Units other = strip.fixed[neighbor.other];
            if (other != NO_PLACE) {
                forbidden_[i].push_back({other - neighbor.above, other + neighbor.below});
            }
        }
        join(forbidden_[i]);
    }
}

Status Walk::run(Units capacity, const Arm &arm, std::int64_t nodes)
{
    Part all;

    capacity_ = std::min(capacity, INFINITE / 2); // more than any sum, and sums with it have room
    arm_ = &arm;
    nodes_ = 0;
    reset();
    for (std::size_t i = 0; i < strip_.fixed.size(); ++i) {
        if (strip_.fixed[i] == NO_PLACE) {
            all.push_back(static_cast<int>(i));
        }
    }
    bool going = enter(std::move(all));
    while (going && !current_.empty()) {
        if (nodes_ >= nodes) {
            return Status::unknown;
        }
        ++nodes_;
        going = branch(std::move(current_));
    }
    return going ? Status::fits : Status::impossible;
}

void Walk::reset()
{
    trail_.clear();
    frames_.clear();
    for (std::size_t i = 0; i < strip_.fixed.size(); ++i) {
        const bool is_fixed = strip_.fixed[i] != NO_PLACE;
        state_.holes[i] = NONE;
        state_.placed[i] = is_fixed;
        state_.floors[i] = is_fixed ? strip_.fixed[i] : lift(static_cast<int>(i), 0);
    }
}

bool Walk::enter(Part part)
{
    for (;;) {
        if (!part.empty()) {
            std::vector<Part> parts = split(part);
            if (parts.size() == 1) {
                current_ = std::move(part);
                return true;
            }
            std::reverse(parts.begin(), parts.end());
            frames_.push_back({NONE, false, trail_.size(), {}, std::move(parts)});
        } else if (frames_.empty()) {
            current_.clear();
            return true;
        } else if (frames_.back().buffer >= 0) {
            frames_.pop_back(); // what was chosen here is part of a solution
            continue;
        }
        if (frames_.back().parts.empty()) {
            frames_.pop_back();
            part.clear();
        } else {
            part = std::move(frames_.back().parts.back());
            frames_.back().parts.pop_back();
        }
    }
}

std::vector<Walk::Part> Walk::split(const Part &part) const
{
    if (!strip_.linear) {
        return {part};
    }
    int first = strip_.sections;
    int last = 0;
    for (const int buffer : part) {
        first = std::min(first, hull(strip_.spans[buffer]).first);
        last = std::max(last, hull(strip_.spans[buffer]).second);
    }
    std::fill(counts_.begin() + first, counts_.begin() + last + 1, 0);
    for (const int buffer : part) {
        ++counts_[hull(strip_.spans[buffer]).first];
        --counts_[hull(strip_.spans[buffer]).second];
    }
    int number = 0;
    int running = 0;
    for (int section = first; section <= last; ++section) {
        running += counts_[section];
        counts_[section] = number;
        number += running == 0;
    }
    std::vector<Part> parts(number);
    for (const int buffer : part) {
        parts[counts_[hull(strip_.spans[buffer]).first]].push_back(buffer);
    }
    parts.erase(std::remove_if(parts.begin(), parts.end(), [](const Part &some) { return some.empty(); }),
                parts.end());
    return parts;
}

bool Walk::branch(Part part)
{
    if (!propagate(part)) {
        return fail();
    }
    const int chosen = choose(part);
    if (chosen < 0) {
        return fail();
    }
    bool can_be_undercut = false;
    for (const Neighbor &neighbor : strip_.neighbors[chosen]) {
        can_be_undercut = can_be_undercut || !state_.placed[neighbor.other];
    }
    Part rest;
    rest.reserve(part.size());
    std::copy_if(part.begin(), part.end(), std::back_inserter(rest), [&](int buffer) { return buffer != chosen; });
    frames_.push_back({chosen, can_be_undercut, trail_.size(), std::move(part), {}});
    place(chosen);
    return enter(std::move(rest));
}

bool Walk::fail()
{
    while (!frames_.empty()) {
        Frame &frame = frames_.back();
        undo(frame.mark);
        if (frame.buffer >= 0 && frame.other_branch) {
            frame.other_branch = false;
            save(frame.buffer);
            state_.holes[frame.buffer] = state_.floors[frame.buffer];
            current_ = std::move(frame.part);
            return true;
        }
        frames_.pop_back();
    }
    return false;
}

void Walk::place(int chosen)
{
    save(chosen);
    state_.placed[chosen] = 1;
    const Units offset = state_.floors[chosen];
    for (const Neighbor &neighbor : strip_.neighbors[chosen]) {
        const int other = neighbor.other;
        if (state_.placed[other]) {
            continue;
        }
        const Units floor = state_.floors[other];
        const Units hole = state_.holes[other];
        const bool filled = hole >= 0 && offset < hole + neighbor.below;
        const bool under = hole < 0 && floor + neighbor.below <= offset;
        const bool low = floor < offset + neighbor.above;
        if (filled || under || low) {
            save(other);
            if (filled) {
                state_.holes[other] = NONE;
            } else if (under) {
                state_.holes[other] = floor;
            }
            if (low) {
                state_.floors[other] = lift(other, offset + neighbor.above);
            }
        }
    }
}

Units Walk::lift(int buffer, Units offset) const
{
    const Units alignment = strip_.alignments[buffer];
    const Ranges &ranges = forbidden_[buffer];

    offset = align_up(offset, alignment);
    const auto ends_below = [](const auto &range, Units least) { return range.second <= least; };
    auto range = std::lower_bound(ranges.begin(), ranges.end(), offset, ends_below);
    for (; range != ranges.end() && range->first < offset; ++range) {
        if (offset < range->second) {
            offset = align_up(range->second, alignment);
        }
    }
    return offset;
}

void Walk::save(int buffer)
{
    trail_.push_back({buffer, state_.floors[buffer], state_.holes[buffer], state_.placed[buffer]});
}

void Walk::raise(int buffer, Units floor)
{
    save(buffer);
    state_.floors[buffer] = lift(buffer, floor);
}

void Walk::undo(std::size_t mark)
{
    for (; trail_.size() > mark; trail_.pop_back()) {
        const Change &change = trail_.back();
        state_.floors[change.buffer] = change.floor;
        state_.holes[change.buffer] = change.hole;
        state_.placed[change.buffer] = change.placed;
    }
}

} // namespace usmp
