// Walks in several ways, by turns, each a little longer than the last.
#include "search.h"

#include <algorithm>

namespace usmp {

namespace {

constexpr std::int64_t CALM = 7;       // turns without noise in ranks
constexpr std::int64_t STRONGEST = 10; // most noise, in percent
constexpr Units FINE = 1024;
constexpr std::int64_t LONGEST = std::int64_t{1} << 60; // most nodes of an arm in a turn

bool fixed_fit(const Strip &strip, Units capacity)
{
    for (std::size_t i = 0; i < strip.fixed.size(); ++i) {
        const Units offset = strip.fixed[i];
        if (offset == NO_PLACE) {
            continue;
        }
        if (offset < 0 || offset + strip.sizes[i] > capacity || offset % strip.alignments[i] != 0) {
            return false;
        }
        for (const Neighbor &neighbor : strip.neighbors[i]) {
            const Units other = strip.fixed[neighbor.other];
            if (other != NO_PLACE && other - offset < neighbor.above && offset - other < neighbor.below) {
                return false;
            }
        }
    }
    return true;
}

using Key = Search::Key;

// Of each buffer: the load of its fullest section, how many sections it is in, and this times its size.
std::vector<Key> keys_of(const Strip &strip)
{
    std::vector<Units> loads(strip.sections, 0);
    for (const auto &spans : strip.spans) {
        for (const Span &span : spans) {
            for (int section = span.first; section <= span.last; ++section) {
                loads[section] += span.units;
            }
        }
    }
    std::vector<Key> keys;
    for (std::size_t i = 0; i < strip.sizes.size(); ++i) {
        Units total = 0;
        Units width = 0;
        for (const Span &span : strip.spans[i]) {
            total = std::max(total, *std::max_element(&loads[span.first], &loads[span.last] + 1));
            width += span.last - span.first + 1;
        }
        keys.push_back({total, width, width * strip.sizes[i]});
    }
    return keys;
}

std::vector<int> ranks_of(const std::vector<Key> &keys, const std::array<int, 3> &order, std::int64_t percent,
                          Noise &noise)
{
    std::vector<Key> blurred;
    std::vector<int> places;
    for (const Key &key : keys) {
        const Units factor = percent > 0 ? noise.near(FINE, percent) : FINE;
        places.push_back(static_cast<int>(places.size()));
        blurred.push_back({key[order[0]] * factor, key[order[1]] * factor, key[order[2]] * factor});
    }
    std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return blurred[a] > blurred[b]; });
    std::vector<int> ranks(keys.size());
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        ranks[places[rank]] = static_cast<int>(rank);
    }
    return ranks;
}

} // namespace

Search::Search(const Strip &strip)
    : strip_(strip), walk_(strip), keys_(keys_of(strip)), limit_(std::max<std::int64_t>(1, keys_.size()))
{
}

Answer Search::next(Units capacity, std::int64_t nodes)
{
    const std::int64_t limit = limit_;
    const std::int64_t percent = std::clamp<std::int64_t>(turns_ - CALM + 1, 0, STRONGEST);
    limit_ = std::min(LONGEST, limit + limit / 2 + 1);
    ++turns_;
    return walk(capacity, nodes, limit, percent);
}

Answer Search::turn(Units capacity, std::int64_t nodes, std::int64_t limit)
{
    return walk(capacity, nodes, limit, 0);
}

// Walk once with each arm, `limit` nodes each and `nodes` in all, with ranks blurred by this many percent.
Answer Search::walk(Units capacity, std::int64_t nodes, std::int64_t limit, std::int64_t percent)
{
    static constexpr std::array<std::array<int, 3>, 3> ORDERS = {{{0, 1, 2}, {1, 2, 0}, {2, 1, 0}}};

    if (!fixed_fit(strip_, capacity)) {
        return {Status::impossible, {}, 0};
    }
    std::int64_t done = 0;
    for (const auto &order : ORDERS) {
        for (const bool fail_first : {false, true}) {
            const Arm arm = {fail_first, ranks_of(keys_, order, percent, noise_)};
            const Status status = walk_.run(capacity, arm, std::min(limit, nodes - done));
            done += walk_.nodes();
            if (status != Status::unknown) {
                return {status, status == Status::fits ? walk_.offsets() : std::vector<Units>(), done};
            }
            if (done >= nodes) {
                return {Status::unknown, {}, done};
            }
        }
    }
    return {Status::unknown, {}, done};
}

Answer search(const Strip &strip, Units capacity, std::int64_t nodes)
{
    Search walks(strip);
    std::int64_t done = 0;
    for (;;) {
        Answer answer = walks.next(capacity, nodes - done);
        done += answer.nodes;
        answer.nodes = done;
        if (answer.status != Status::unknown || done >= nodes) {
            return answer;
        }
    }
}

} // namespace usmp
