#include "moving.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace usmp {

namespace {

constexpr Units FAR = std::numeric_limits<Units>::max() / 4;

Units align_down(Units offset, Units alignment)
{
    return offset < 0 ? offset : offset / alignment * alignment;
}

} // namespace

Moving::Moving(std::vector<Movable> buffers, std::vector<bool> free)
    : buffers_(std::move(buffers)), free_(std::move(free)), distances_(buffers_.size())
{
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        for (const Neighbor &near : buffers_[i].near) {
            distances_[i].emplace_back(near.other, near.above);
            distances_[near.other].emplace_back(static_cast<int>(i), near.below);
        }
    }
    for (auto &each : distances_) {
        std::sort(each.begin(), each.end());
    }
}

// From the start of one to the start of the other, where that is above it.
Units Moving::distance(int below, int above) const
{
    const auto &stated = distances_[below];
    const auto found = std::lower_bound(stated.begin(), stated.end(), std::pair(above, -FAR));
    return found == stated.end() || found->first != above ? buffers_[below].size : found->second;
}

bool Moving::fits(const Layout &now, int buffer, Units offset, Units capacity) const
{
    if (offset < 0 || offset + buffers_[buffer].size > capacity) {
        return false;
    }
    return std::all_of(now.alive.begin(), now.alive.end(), [&](int other) {
        const Units above = offset - now.at[other]; // no distance exceeds the size of what is below
        return other == buffer || above >= buffers_[other].size || -above >= buffers_[buffer].size ||
               above >= distance(other, buffer) || -above >= distance(buffer, other);
    });
}

// Offsets at the ends of the pool, and as close to each other buffer as it may come.
std::vector<Units> Moving::candidates(const Layout &now, int buffer, Units capacity) const
{
    const Units alignment = buffers_[buffer].alignment;
    std::vector<Units> offsets = {0, align_down(capacity - buffers_[buffer].size, alignment)};

    for (const int other : now.alive) {
        if (other != buffer) {
            offsets.push_back(align_up(std::max<Units>(0, now.at[other] + distance(other, buffer)), alignment));
            offsets.push_back(align_down(now.at[other] - distance(buffer, other), alignment));
        }
    }
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    return offsets;
}

// Place a buffer where nothing has to move: false if there is no such place.
bool Moving::place(Layout &now, int buffer, Units capacity, Rule rule) const
{
    Units best = NO_PLACE;
    Units least = FAR;

    for (const Units offset : candidates(now, buffer, capacity)) {
        if (fits(now, buffer, offset, capacity)) {
            Units low = 0;
            Units high = capacity;
            for (const int other : now.alive) {
                if (now.at[other] <= offset) {
                    low = std::max(low, now.at[other] + buffers_[other].size);
                } else {
                    high = std::min(high, now.at[other]);
                }
            }
            const Units badness = rule == Rule::NARROWEST ? high - low : rule == Rule::LOWEST ? offset : -offset;
            if (badness < least) {
                least = badness;
                best = offset;
            }
        }
    }
    if (best == NO_PLACE) {
        return false;
    }
    now.at[buffer] = best;
    const auto above = [&](int other) { return now.at[other] > best; };
    now.alive.insert(std::find_if(now.alive.begin(), now.alive.end(), above), buffer);
    return true;
}

// Find an order in which moves can be made one by one: none goes where something still is.
bool Moving::in_sequence(const Layout &now, const std::vector<std::pair<int, Units>> &places, std::int64_t step,
                         std::vector<int> &order) const
{
    Layout moved = now;
    std::vector<std::pair<int, Units>> left;

    for (const auto &[buffer, offset] : places) {
        if (buffers_[buffer].first != step) {
            left.emplace_back(buffer, offset);
        }
    }
    const auto is_new = [&](int buffer) { return buffers_[buffer].first == step; };
    moved.alive.erase(std::remove_if(moved.alive.begin(), moved.alive.end(), is_new), moved.alive.end());
    while (!left.empty()) {
        const auto next = std::find_if(left.begin(), left.end(),
                                       [&](const auto &each) { return fits(moved, each.first, each.second, FAR); });
        if (next == left.end()) {
            return false;
        }
        moved.at[next->first] = next->second;
        order.push_back(next->first);
        left.erase(next);
    }
    return true;
}

// Tell whether `other` may give way to `buffer` in a change that moves less than the best one; count it in `bytes`.
bool Moving::gives_way(int other, int buffer, const Change &best, Units &bytes) const
{
    if (buffers_[other].first != buffers_[buffer].first) {
        bytes += buffers_[other].size;
        return buffers_[other].may_move && (best.bytes < 0 || bytes < best.bytes);
    }
    return true;
}

// Keep new places of buffers, `buffer` among them, if they move fewer bytes than the best ones known.
void Moving::keep_if_better(const Layout &now, int buffer, Units bytes, std::vector<std::pair<int, Units>> places,
                            Change &best) const
{
    if (best.bytes >= 0 && bytes >= best.bytes) {
        return;
    }
    std::vector<std::pair<int, Units>> others;
    std::copy_if(places.begin(), places.end(), std::back_inserter(others),
                 [&](const auto &each) { return each.first != buffer; });
    std::vector<int> order;
    if (in_sequence(now, others, buffers_[buffer].first, order)) {
        best = {bytes, std::move(places), std::move(order)};
    }
}

// Put a buffer at an offset above some of the others, which it pushes down, and the rest up, no farther than they must.
void Moving::push_apart(const Layout &now, int buffer, std::size_t below, Units offset, Units capacity,
                        Change &best) const
{
    std::vector<std::pair<int, Units>> placed = {{buffer, offset}};
    std::vector<std::pair<int, Units>> changed = placed;
    Units bytes = 0;

    for (std::size_t n = 0; n < now.alive.size(); ++n) {
        const bool is_below = n < below;
        const int other = now.alive[is_below ? below - 1 - n : n];
        Units at = now.at[other];
        for (const auto &[each, place] : placed) {
            at = is_below ? std::min(at, place - distance(other, each)) : std::max(at, place + distance(each, other));
        }
        if (at != now.at[other]) {
            at = is_below ? align_down(at, buffers_[other].alignment) : align_up(at, buffers_[other].alignment);
            changed.emplace_back(other, at);
            if (!gives_way(other, buffer, best, bytes)) {
                return;
            }
        }
        if (at < 0 || at + buffers_[other].size > capacity) {
            return;
        }
        placed.emplace_back(other, at);
    }
    keep_if_better(now, buffer, bytes, std::move(changed), best);
}

// Try to put a buffer between any two neighbors: where only one side moves, or as low and as high as it can be.
void Moving::insert_between(const Layout &now, int buffer, Units capacity, Change &best) const
{
    const std::size_t count = now.alive.size();
    const Units room = capacity - buffers_[buffer].size;
    std::vector<Units> low(count + 1), lowest(count + 1);                        // by how many are below
    std::vector<Units> high(count + 1, room), highest(count + 1, room), packed(count);

    for (std::size_t i = 0; i < count; ++i) {
        const int other = now.alive[i];
        packed[i] = 0;
        for (std::size_t j = 0; j < i; ++j) {
            packed[i] = std::max(packed[i], packed[j] + distance(now.alive[j], other));
        }
        packed[i] = align_up(packed[i], buffers_[other].alignment);
        lowest[i + 1] = std::max(lowest[i], packed[i] + distance(other, buffer));
        low[i + 1] = std::max(low[i], now.at[other] + distance(other, buffer));
    }
    for (std::size_t i = count; i-- > 0;) {
        const int other = now.alive[i];
        packed[i] = capacity - buffers_[other].size;
        for (std::size_t j = i + 1; j < count; ++j) {
            packed[i] = std::min(packed[i], packed[j] - distance(other, now.alive[j]));
        }
        packed[i] = align_down(packed[i], buffers_[other].alignment);
        highest[i] = std::min(highest[i + 1], packed[i] - distance(buffer, other));
        high[i] = std::min(high[i + 1], now.at[other] - distance(buffer, other));
    }
    for (std::size_t below = 0; below <= count; ++below) {
        for (const Units wish : {low[below], high[below], lowest[below], highest[below]}) {
            const Units offset = align_up(std::max<Units>(0, wish), buffers_[buffer].alignment);
            if (lowest[below] <= offset && offset <= highest[below]) {
                push_apart(now, buffer, below, offset, capacity, best);
            }
        }
    }
}

// Put a buffer at an offset, and what is there into gaps, the largest first and as near as there is one.
void Moving::clear_away(const Layout &now, int buffer, Units offset, Units capacity, Change &best) const
{
    std::vector<int> away;
    std::vector<int> left;
    Units bytes = 0;

    for (const int other : now.alive) {
        const bool is_in_the_way =
            offset - now.at[other] < distance(other, buffer) && now.at[other] - offset < distance(buffer, other);
        if (is_in_the_way && !gives_way(other, buffer, best, bytes)) {
            return;
        }
        (is_in_the_way ? away : left).push_back(other);
    }
    left.push_back(buffer);
    std::stable_sort(away.begin(), away.end(),
                     [&](int one, int other) { return buffers_[one].size > buffers_[other].size; });
    Layout cleared = {std::move(left), now.at};
    cleared.at[buffer] = offset;
    std::vector<std::pair<int, Units>> changed = {{buffer, offset}};
    for (const int other : away) {
        Units nearest = NO_PLACE;
        for (const Units each : candidates(cleared, other, capacity)) {
            const bool is_nearer =
                nearest == NO_PLACE || std::abs(each - now.at[other]) < std::abs(nearest - now.at[other]);
            if (is_nearer && fits(cleared, other, each, capacity)) {
                nearest = each;
            }
        }
        if (nearest == NO_PLACE) {
            return;
        }
        cleared.alive.push_back(other);
        cleared.at[other] = nearest;
        changed.emplace_back(other, nearest);
    }
    keep_if_better(now, buffer, bytes, std::move(changed), best);
}

// The offsets next to an end of the pool, or to what cannot move there: where a buffer that cannot move divides nothing.
std::vector<Units> Moving::ends(const Layout &now, int buffer, Units capacity) const
{
    Units low = 0;
    Units high = capacity;

    for (std::size_t i = 0; i < now.alive.size() && !buffers_[now.alive[i]].may_move; ++i) {
        low = std::max(low, now.at[now.alive[i]] + distance(now.alive[i], buffer));
    }
    for (std::size_t i = now.alive.size(); i-- > 0 && !buffers_[now.alive[i]].may_move;) {
        high = std::min(high, now.at[now.alive[i]]);
    }
    const Units alignment = buffers_[buffer].alignment;
    return {align_up(low, alignment), align_down(high - buffers_[buffer].size, alignment)};
}

// Find the cheapest change that makes room for a buffer, at one of these offsets or anywhere.
Moving::Change Moving::room_for(const Layout &now, int buffer, Units capacity, const std::vector<Units> &offsets) const
{
    Change best;
    for (const Units offset : offsets.empty() ? candidates(now, buffer, capacity) : offsets) {
        if (offset >= 0 && offset + buffers_[buffer].size <= capacity) {
            clear_away(now, buffer, offset, capacity, best);
            for (std::size_t below = 0; !offsets.empty() && below <= now.alive.size(); ++below) {
                push_apart(now, buffer, below, offset, capacity, best);
            }
        }
    }
    if (offsets.empty()) {
        insert_between(now, buffer, capacity, best);
    }
    return best;
}

// Place a buffer; one that cannot move goes to an end of the pool.
bool Moving::admit(Layout &now, int buffer, Units capacity, Rule rule, Movements &made) const
{
    const Movable &born = buffers_[buffer];
    const bool is_free = free_[static_cast<std::size_t>(born.first)];
    Change change;

    if (!born.may_move && born.last > born.first && is_free) {
        std::vector<Units> offsets = ends(now, buffer, capacity);
        if (rule == Rule::HIGHEST) {
            std::reverse(offsets.begin(), offsets.end());
        }
        change = room_for(now, buffer, capacity, offsets);
    }
    if (change.bytes < 0 && place(now, buffer, capacity, rule)) {
        made.births[buffer] = now.at[buffer];
        return true;
    }
    if (change.bytes < 0 && is_free) {
        change = room_for(now, buffer, capacity, {});
    }
    if (change.bytes < 0) {
        return false;
    }
    for (const auto &[each, offset] : change.places) {
        now.at[each] = offset;
        if (buffers_[each].first == born.first) {
            made.births[each] = offset;
        }
    }
    for (const int each : change.order) {
        made.moves.push_back({born.first, each, now.at[each]});
    }
    now.alive.push_back(buffer);
    std::stable_sort(now.alive.begin(), now.alive.end(),
                     [&](int one, int other) { return now.at[one] < now.at[other]; });
    return true;
}

// Count the pairs that are looked at down from `visits`; where none are left, it ends.
Movements Moving::within(Units capacity, Rule rule, std::int64_t &visits) const
{
    Movements made = {false, std::vector<Units>(buffers_.size()), {}};
    Layout now = {{}, std::vector<Units>(buffers_.size())};

    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        const std::int64_t step = buffers_[i].first;
        const auto is_dead = [&](int other) { return buffers_[other].last < step; };
        now.alive.erase(std::remove_if(now.alive.begin(), now.alive.end(), is_dead), now.alive.end());
        const auto alive = static_cast<std::int64_t>(now.alive.size()) + 1;
        visits -= alive * alive;
        if (visits <= 0 || !admit(now, static_cast<int>(i), capacity, rule, made)) {
            return made;
        }
    }
    made.is_done = true;
    return made;
}

} // namespace usmp
