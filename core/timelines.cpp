#include "timelines.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "repair.h"

namespace usmp {

namespace {

constexpr std::int64_t VISITS_EACH = 2048; // allowed to first fit for each buffer that it places, beyond the work
constexpr Bytes FINE = 1024; // one order is enough if its peak is no more than this part of the greatest load above it

// Buffers that have bytes, in the order of their births; what else makes them differ comes next, so that the result
// is the same in whichever order they come.
std::vector<std::size_t> in_order(const Timeline &timeline)
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < timeline.count; ++i) {
        if (timeline.size[i] > 0) {
            order.push_back(i);
        }
    }
    const auto key = [&](std::size_t i) {
        return std::make_tuple(timeline.lower[i], timeline.upper[i], timeline.size[i], timeline.alignment[i], i);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    return order;
}

Sections sections_of(const Timeline &timeline, const std::vector<std::size_t> &order)
{
    const Bytes unit = *std::min_element(timeline.alignment, timeline.alignment + timeline.count);
    std::vector<std::int64_t> lower;
    std::vector<std::int64_t> upper;
    std::vector<Block> blocks;
    for (const std::size_t i : order) {
        lower.push_back(timeline.lower[i]);
        upper.push_back(timeline.upper[i]);
        blocks.push_back({align_up(timeline.size[i], unit), timeline.alignment[i]});
    }
    return make_sections(std::move(blocks), lower, upper);
}

} // namespace

TimelinePlan plan_timeline(const Timeline &timeline, std::int64_t work)
{
    TimelinePlan plan = {std::vector<std::int64_t>(timeline.count, 0), 0};
    const std::vector<std::size_t> order = in_order(timeline);
    if (order.empty()) {
        return plan;
    }
    const Sections sections = sections_of(timeline, order);
    std::vector<Bytes> best;
    Bytes peak = 0;
    const Bytes bound = *std::max_element(sections.loads.begin(), sections.loads.end());
    const auto is_open = [&] { return best.empty() || peak - bound > bound / FINE; };
    const auto keep = [&](TimelineFit &candidate) {
        plan.work += candidate.work;
        if (best.empty() || candidate.peak() < peak) {
            peak = candidate.peak();
            best = std::move(candidate.offsets);
        }
    };
    const auto fit = [&](Order kind, std::int64_t share) {
        TimelineFit candidate(sections, kind);
        candidate.place_all(share + VISITS_EACH * sections.buffers());
        Repair(sections, candidate, share).run();
        keep(candidate);
    };
    fit(Order::load, work);
    for (const bool by_area : {false, true}) {
        if (is_open()) {
            TimelineFit stack(sections, Order::load);
            stack.stack_all(by_area, work / 2);
            keep(stack);
        }
    }
    for (const auto &[kind, share] : {std::pair(Order::size, std::int64_t{0}), {Order::length, work / 2}}) {
        if (is_open()) {
            fit(kind, share);
        }
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        plan.offsets[order[i]] = best[i];
    }
    return plan;
}

} // namespace usmp
