// What a walk infers from its state, and which buffer it takes next.
#include "walk.h"

#include <algorithm>

namespace usmp {

namespace {

constexpr int ROUNDS = 4;  // of all rules in one node, at the most: more find little
constexpr int SWEEPS = 64; // over pairs, along the timeline and back, at the most: mostly the third changes nothing

} // namespace

// ------------------------------------------------------------------------------------------------ inference

bool Walk::propagate(Part &part)
{
    load(part);
    for (int round = 0; round < ROUNDS; ++round) {
        bool changed = false;
        if (!holes_can_be_filled(part, changed)) {
            return false;
        }
        if (arm_->fail_first && !raise_those_not_lowest(part, changed)) {
            return false;
        }
        if (!kept_off_.empty() && !pairs_have_room(part, changed)) {
            return false;
        }
        if ((round == 0 || changed) && !sections_have_room(part)) {
            return false;
        }
        if (!changed) {
            return true;
        }
    }
    return true;
}

void Walk::load(const Part &part)
{
    first_ = strip_.sections;
    last_ = 0;
    for (const int buffer : part) {
        first_ = std::min(first_, hull(strip_.spans[buffer]).first);
        last_ = std::max(last_, hull(strip_.spans[buffer]).second);
    }
    std::fill(loads_.begin() + first_, loads_.begin() + last_ + 1, 0);
    std::fill(spare_.begin() + first_, spare_.begin() + last_ + 1, 0);
    for (const int buffer : part) {
        for (const Span &span : strip_.spans[buffer]) {
            const Units spare = span.units - strip_.sizes[buffer];
            for (int section = span.first; section <= span.last; ++section) {
                loads_[section] += span.units;
                spare_[section] = std::max(spare_[section], spare);
            }
        }
    }
    for (int section = first_; section <= last_; ++section) {
        loads_[section] -= spare_[section];
    }
}

bool Walk::holes_can_be_filled(const Part &part, bool &changed)
{
    for (const int buffer : part) {
        const Units hole = state_.holes[buffer];
        if (hole < 0) {
            continue;
        }
        Units earliest = INFINITE;
        for (const Neighbor &neighbor : strip_.neighbors[buffer]) {
            const Units floor = state_.floors[neighbor.other];
            if (!state_.placed[neighbor.other] && floor < hole + neighbor.above) {
                earliest = std::min(earliest, floor + neighbor.below);
            }
        }
        if (earliest == INFINITE) {
            return false;
        }
        if (earliest > state_.floors[buffer]) {
            raise(buffer, earliest);
            changed = true;
        }
    }
    return true;
}

bool Walk::raise_those_not_lowest(const Part &part, bool &changed)
{
    std::fill(least_.begin() + first_, least_.begin() + last_ + 1, INFINITE);
    std::fill(second_.begin() + first_, second_.begin() + last_ + 1, INFINITE);
    for (const int buffer : part) {
        for (const Span &span : strip_.spans[buffer]) {
            const Units end = state_.floors[buffer] + (kept_off_.empty() ? span.units : kept_off_[buffer]);
            for (int section = span.first; section <= span.last; ++section) {
                if (end < least_[section]) {
                    second_[section] = least_[section];
                    least_[section] = end;
                    least_owner_[section] = buffer;
                } else if (end < second_[section]) {
                    second_[section] = end;
                }
            }
        }
    }
    for (const int buffer : part) {
        const Units floor = state_.floors[buffer];
        Units new_floor = floor;
        for (const Span &span : strip_.spans[buffer]) {
            for (int section = span.first; section <= span.last; ++section) {
                if (floor + loads_[section] > capacity_) {
                    const Units end = least_owner_[section] == buffer ? second_[section] : least_[section];
                    new_floor = std::max(new_floor, end);
                }
            }
        }
        if (new_floor == INFINITE) {
            return false;
        }
        if (new_floor > floor) {
            raise(buffer, new_floor);
            changed = true;
        }
    }
    return true;
}

bool Walk::pairs_have_room(const Part &part, bool &changed)
{
    for (const int buffer : part) {
        tails_[buffer] = strip_.sizes[buffer];
    }
    Part forward = part;
    std::sort(forward.begin(), forward.end());
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        bool moved = false;
        for (std::size_t k = 0; k < part.size(); ++k) {
            const int buffer = forward[sweep % 2 == 0 ? k : part.size() - 1 - k];
            for (const Neighbor &neighbor : pairs_[buffer]) {
                if (!state_.placed[neighbor.other] && !pair_has_room(buffer, neighbor, moved, changed)) {
                    return false;
                }
            }
        }
        if (!moved) {
            return true;
        }
    }
    return true;
}

bool Walk::pair_has_room(int buffer, const Neighbor &neighbor, bool &moved, bool &raised)
{
    const int other = neighbor.other;
    const bool is_under = state_.floors[buffer] + neighbor.above + tails_[other] <= capacity_;
    const bool is_above = state_.floors[other] + neighbor.below + tails_[buffer] <= capacity_;
    if (is_under == is_above) {
        return is_under;
    }
    const int lower = is_under ? buffer : other;
    const int upper = is_under ? other : buffer;
    const Units distance = is_under ? neighbor.above : neighbor.below;
    if (state_.floors[lower] + distance > state_.floors[upper]) {
        raise(upper, state_.floors[lower] + distance);
        moved = raised = true;
    }
    if (distance + tails_[upper] > tails_[lower]) {
        tails_[lower] = distance + tails_[upper];
        moved = true;
    }
    return true;
}

bool Walk::sections_have_room(Part &part)
{
    // Insertion: from one node to the next, few change places.
    for (std::size_t i = 1; i < part.size(); ++i) {
        const int buffer = part[i];
        std::size_t j = i;
        for (; j > 0 && state_.floors[part[j - 1]] < state_.floors[buffer]; --j) {
            part[j] = part[j - 1];
        }
        part[j] = buffer;
    }
    Units *const pile = least_.data();
    Units *const top = tops_.data();
    std::fill(pile + first_, pile + last_ + 1, 0);
    std::fill(top + first_, top + last_ + 1, 0);
    for (const int buffer : part) {
        const Units floor = state_.floors[buffer];
        if (floor + strip_.sizes[buffer] > capacity_) {
            top[hull(strip_.spans[buffer]).first] = INFINITE;
        }
        for (const Span &span : strip_.spans[buffer]) {
            for (int section = span.first; section <= span.last; ++section) {
                pile[section] += span.units;
                top[section] = std::max(top[section], pile[section] + floor);
            }
        }
    }
    bool room = true;
    for (int section = first_; section <= last_; ++section) {
        if (top[section] > capacity_ + spare_[section]) {
            ++weights_[section];
            room = false;
        }
    }
    return room;
}

// ------------------------------------------------------------------------------------------------ choice

int Walk::choose(const Part &part) const
{
    const int section = arm_->fail_first ? tightest_section(part) : NONE;
    if (section < 0) {
        return walk_down(choose_lowest(part));
    }
    int chosen = NONE;
    for (const int buffer : part) {
        if (state_.holes[buffer] >= 0 || state_.floors[buffer] + loads_[section] > capacity_) {
            continue;
        }
        for (const Span &span : strip_.spans[buffer]) {
            if (span.first <= section && section <= span.last && (chosen < 0 || earlier(buffer, chosen))) {
                chosen = buffer;
            }
        }
    }
    return walk_down(chosen);
}

// Move on to a neighbor with a lower floor; where bytes are shared, to one that can be below at its floor.
int Walk::walk_down(int chosen) const
{
    while (chosen >= 0) {
        int lower = NONE;
        for (const Neighbor &neighbor : strip_.neighbors[chosen]) {
            const int other = neighbor.other;
            const Units distance = kept_off_.empty() ? 1 : neighbor.below;
            if (!state_.placed[other] && state_.holes[other] < 0
                && state_.floors[other] + distance <= state_.floors[chosen] && (lower < 0 || earlier(other, lower))) {
                lower = other;
            }
        }
        if (lower < 0) {
            break;
        }
        chosen = lower;
    }
    return chosen;
}

int Walk::choose_lowest(const Part &part) const
{
    int chosen = NONE;
    for (const int buffer : part) {
        if (state_.holes[buffer] < 0 && (chosen < 0 || earlier(buffer, chosen))) {
            chosen = buffer;
        }
    }
    return chosen;
}

int Walk::tightest_section(const Part &part) const
{
    std::fill(counts_.begin() + first_, counts_.begin() + last_ + 1, 0);
    for (const int buffer : part) {
        if (state_.holes[buffer] >= 0) {
            continue;
        }
        for (const Span &span : strip_.spans[buffer]) {
            for (int section = span.first; section <= span.last; ++section) {
                counts_[section] += state_.floors[buffer] + loads_[section] <= capacity_;
            }
        }
    }
    int best = NONE;
    for (int section = first_; section <= last_; ++section) {
        if (counts_[section] > 0
            && (best < 0 || counts_[section] * weights_[best] < counts_[best] * weights_[section])) {
            best = section;
        }
    }
    return best;
}

bool Walk::earlier(int one, int other) const
{
    const Units a = state_.floors[one];
    const Units b = state_.floors[other];
    return a != b ? a < b : arm_->ranks[one] < arm_->ranks[other];
}

} // namespace usmp
