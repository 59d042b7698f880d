// Plain functions of C for planner/algorithms/core.py: one library fits every Python.  All numbers have 64 bits.  A
// list of lists is one list, and where each begins and the last ends:
//
//     {{1, 8, 8}}, {}, {{0, 8, 8}, {3, 4, 4}}    starts  0 1 1 3    values  1 8 8  0 8 8  3 4 4
//
// What `usmp_*_new` returns, `usmp_*_delete` frees.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "first_fit.h"
#include "moving.h"
#include "search.h"
#include "spans.h"
#include "sweep.h"
#include "timelines.h"

#ifdef _WIN32
#define USMP_API extern "C" __declspec(dllexport)
#else
#define USMP_API extern "C" __attribute__((visibility("default")))
#endif

#ifndef USMP_SOURCES
#define USMP_SOURCES "" // unknown: what builds us, such as Bazel, sees to it that we are never older than the sources
#endif

namespace {

using Number = std::int64_t;

constexpr int OUT_OF_MEMORY = -1;
constexpr int NOT_PLACED = -2;

std::vector<int> row_of(const Number *starts, const Number *values, Number row)
{
    return {values + starts[row], values + starts[row + 1]};
}

std::vector<usmp::Neighbor> neighbors_of(const Number *starts, const Number *triples, Number row)
{
    std::vector<usmp::Neighbor> neighbors;
    for (Number i = starts[row]; i < starts[row + 1]; ++i) {
        neighbors.push_back({static_cast<int>(triples[3 * i]), triples[3 * i + 1], triples[3 * i + 2]});
    }
    return neighbors;
}

std::vector<usmp::Span> spans_of(const Number *starts, const Number *triples, Number row)
{
    std::vector<usmp::Span> spans;
    for (Number i = starts[row]; i < starts[row + 1]; ++i) {
        spans.push_back({static_cast<int>(triples[3 * i]), static_cast<int>(triples[3 * i + 1]), triples[3 * i + 2]});
    }
    return spans;
}

// Return a new object; null where memory does not suffice, which is all that can go wrong.  Nothing is thrown into C.
template <class Make> auto made(Make make) -> decltype(make().release())
{
    try {
        return make().release();
    } catch (const std::exception &) {
        return nullptr;
    }
}

template <class Run> int status_of(Run run)
{
    try {
        return run();
    } catch (const std::exception &) {
        return OUT_OF_MEMORY;
    }
}

} // namespace

// That of the package: core.py takes no other.
USMP_API const char *usmp_version()
{
    return "0.1.0";
}

// The hash of all sources, which tells cores of one version apart.
USMP_API const char *usmp_sources()
{
    return USMP_SOURCES;
}

USMP_API usmp::Strip *usmp_strip_new(Number count, const Number *sizes, const Number *alignments, const Number *fixed,
                                     const Number *neighbor_starts, const Number *neighbors, const Number *span_starts,
                                     const Number *spans, Number sections, Number linear)
{
    return made([&] {
        auto strip = std::make_unique<usmp::Strip>();
        strip->sizes.assign(sizes, sizes + count);
        strip->alignments.assign(alignments, alignments + count);
        strip->fixed.assign(fixed, fixed + count);
        for (Number row = 0; row < count; ++row) {
            strip->neighbors.push_back(neighbors_of(neighbor_starts, neighbors, row));
            strip->spans.push_back(spans_of(span_starts, spans, row));
        }
        strip->sections = static_cast<int>(sections);
        strip->linear = linear != 0;
        return strip;
    });
}

USMP_API void usmp_strip_delete(usmp::Strip *strip)
{
    delete strip;
}

// Fill in the units that each of `members` adds to its section.
USMP_API int usmp_spans(Number count, const Number *sizes, const Number *alignments, const Number *neighbor_starts,
                        const Number *neighbors, Number sections, const Number *starts, const Number *members,
                        Number *units)
{
    return status_of([&] {
        std::vector<std::vector<usmp::Neighbor>> near;
        for (Number row = 0; row < count; ++row) {
            near.push_back(neighbors_of(neighbor_starts, neighbors, row));
        }
        usmp::Spans spans({sizes, sizes + count}, {alignments, alignments + count}, near);
        for (Number section = 0; section < sections; ++section) {
            const std::vector<usmp::Units> added = spans.added(row_of(starts, members, section));
            units = std::copy(added.begin(), added.end(), units);
        }
        return 0;
    });
}

// The strip has to live as long as its walks.
USMP_API usmp::Search *usmp_walks_new(const usmp::Strip *strip)
{
    return made([&] { return std::make_unique<usmp::Search>(*strip); });
}

USMP_API void usmp_walks_delete(usmp::Search *walks)
{
    delete walks;
}

// Take a turn of `limit` nodes each, or with 0, the next one.  Return a usmp::Status, and the nodes visited; fill in
// offsets if the strip fits.
USMP_API int usmp_walks_turn(usmp::Search *walks, Number capacity, Number nodes, Number limit, Number *visited,
                             Number *offsets)
{
    return status_of([&] {
        const usmp::Answer answer = limit > 0 ? walks->turn(capacity, nodes, limit) : walks->next(capacity, nodes);
        std::copy(answer.offsets.begin(), answer.offsets.end(), offsets);
        *visited = answer.nodes;
        return static_cast<int>(answer.status);
    });
}

USMP_API usmp::Sweep *usmp_sweep_new(Number count, const Number *sizes, const Number *alignments, const Number *fixed,
                                     const Number *neighbor_starts, const Number *neighbors, const Number *weights,
                                     const Number *done_starts, const Number *done)
{
    return made([&] {
        std::vector<usmp::Swept> order;
        for (Number row = 0; row < count; ++row) {
            order.push_back({sizes[row], alignments[row], fixed[row], weights[row],
                             neighbors_of(neighbor_starts, neighbors, row), row_of(done_starts, done, row)});
        }
        return std::make_unique<usmp::Sweep>(std::move(order));
    });
}

USMP_API void usmp_sweep_delete(usmp::Sweep *sweep)
{
    delete sweep;
}

// Take from `visits`; return 1 and fill in offsets if a packing gets to the end, else 0.
USMP_API int usmp_sweep_packed(const usmp::Sweep *sweep, Number capacity, Number *visits, Number *offsets)
{
    return status_of([&] {
        const auto [packed, left] = sweep->packed(capacity, *visits);
        std::copy(packed.begin(), packed.end(), offsets);
        *visits = left;
        return packed.empty() ? 0 : 1;
    });
}

USMP_API usmp::FirstFit *usmp_first_fit_new(Number count, const Number *sizes, const Number *alignments,
                                          const Number *fixed, const Number *cliques, const Number *neighbor_starts,
                                          const Number *neighbors, const Number *pool_starts, const Number *pools,
                                          Number limit_count, const Number *limits)
{
    return made([&] {
        std::vector<usmp::Placeable> buffers;
        for (Number row = 0; row < count; ++row) {
            buffers.push_back({sizes[row], alignments[row], fixed[row], static_cast<int>(cliques[row]),
                               row_of(pool_starts, pools, row), neighbors_of(neighbor_starts, neighbors, row)});
        }
        return std::make_unique<usmp::FirstFit>(std::vector<usmp::Units>(limits, limits + limit_count),
                                               std::move(buffers));
    });
}

USMP_API void usmp_first_fit_delete(usmp::FirstFit *fit)
{
    delete fit;
}

// Place `count` buffers beside those that have a pool, of all `buffers`; return how many found room.
USMP_API int usmp_first_fit_place(const usmp::FirstFit *fit, Number count, const Number *order, Number overflow,
                                 Number buffers, Number *pools, Number *offsets)
{
    return status_of([&] {
        std::vector<usmp::Place> places;
        for (Number i = 0; i < buffers; ++i) {
            places.push_back({static_cast<int>(pools[i]), offsets[i]});
        }
        const std::size_t done = fit->place({order, order + count}, overflow != 0, places);
        for (Number i = 0; i < buffers; ++i) {
            pools[i] = places[i].pool;
            offsets[i] = places[i].offset;
        }
        return static_cast<int>(done);
    });
}

USMP_API usmp::Moving *usmp_moving_new(Number count, const Number *sizes, const Number *alignments, const Number *first,
                                       const Number *last, const Number *may_move, const Number *neighbor_starts,
                                       const Number *neighbors, Number steps, const Number *free)
{
    return made([&] {
        std::vector<usmp::Movable> buffers;
        for (Number row = 0; row < count; ++row) {
            buffers.push_back({sizes[row], alignments[row], first[row], last[row], may_move[row] != 0,
                               neighbors_of(neighbor_starts, neighbors, row)});
        }
        return std::make_unique<usmp::Moving>(std::move(buffers), std::vector<bool>(free, free + steps));
    });
}

USMP_API void usmp_moving_delete(usmp::Moving *moving)
{
    delete moving;
}

// Take from `visits`; return how many moves there are if all buffers find room within the capacity, no more than
// `most`, and fill in offsets, and step, buffer and offset of each move; else return NOT_PLACED.
USMP_API int usmp_moving_within(const usmp::Moving *moving, Number capacity, Number rule, Number *visits, Number *offsets,
                                Number most, Number *moves)
{
    return status_of([&] {
        const usmp::Movements made = moving->within(capacity, static_cast<usmp::Rule>(rule), *visits);
        if (!made.is_done || static_cast<Number>(made.moves.size()) > most) {
            return NOT_PLACED;
        }
        std::copy(made.births.begin(), made.births.end(), offsets);
        for (const usmp::Relocation &each : made.moves) {
            *moves++ = each.step;
            *moves++ = each.buffer;
            *moves++ = each.offset;
        }
        return static_cast<int>(made.moves.size());
    });
}

// Turn the work that is allowed into the work that was done.
USMP_API int usmp_plan_timeline(Number count, const Number *lower, const Number *upper, const Number *size,
                                const Number *alignment, Number *work, Number *offsets)
{
    return status_of([&] {
        const usmp::Timeline timeline = {lower, upper, size, alignment, static_cast<std::size_t>(count)};
        const usmp::TimelinePlan plan = usmp::plan_timeline(timeline, *work);
        std::copy(plan.offsets.begin(), plan.offsets.end(), offsets);
        *work = plan.work;
        return 0;
    });
}
