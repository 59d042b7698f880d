// What Python sees of the core: usmp_build/planner/algorithms/core.py imports it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "large.h"
#include "pool_fit.h"
#include "search.h"
#include "sweep.h"

namespace {

using usmp::Units;
using Triple = std::tuple<Units, Units, Units>;
using Triples = std::vector<std::vector<Triple>>;

std::vector<usmp::Neighbor> neighbors_of(const std::vector<Triple> &triples)
{
    std::vector<usmp::Neighbor> neighbors;
    for (const auto &[other, above, below] : triples) {
        neighbors.push_back({static_cast<int>(other), above, below});
    }
    return neighbors;
}

usmp::Strip make_strip(std::vector<Units> sizes, std::vector<Units> alignments, std::vector<Units> fixed,
                       const Triples &neighbors, const Triples &spans, int sections, bool linear)
{
    usmp::Strip strip = {std::move(sizes), std::move(alignments), std::move(fixed), {}, {}, sections, linear};
    for (const auto &some : neighbors) {
        strip.neighbors.push_back(neighbors_of(some));
    }
    for (const auto &some : spans) {
        strip.spans.emplace_back();
        for (const auto &[first, last, units] : some) {
            strip.spans.back().push_back({static_cast<int>(first), static_cast<int>(last), units});
        }
    }
    return strip;
}

using InSweep = std::tuple<Units, Units, Units, std::int64_t, std::vector<Triple>, std::vector<int>>;

usmp::Sweep make_sweep(const std::vector<InSweep> &buffers)
{
    std::vector<usmp::Swept> order;
    for (const auto &[size, alignment, fixed, weight, near, done] : buffers) {
        order.push_back({size, alignment, fixed, weight, neighbors_of(near), done});
    }
    return usmp::Sweep(std::move(order));
}

using InPools = std::tuple<Units, Units, Units, std::vector<int>, std::vector<Triple>>;

usmp::PoolFit make_pool_fit(std::vector<Units> limits, const std::vector<InPools> &buffers)
{
    std::vector<usmp::Placeable> placeable;
    for (const auto &[size, alignment, fixed, pools, neighbors] : buffers) {
        placeable.push_back({size, alignment, fixed, pools, neighbors_of(neighbors)});
    }
    return usmp::PoolFit(std::move(limits), std::move(placeable));
}

std::vector<std::pair<int, Units>> placed(const usmp::PoolFit &fit, const std::vector<int> &order)
{
    std::vector<std::pair<int, Units>> places;
    for (const auto &[pool, offset] : fit.placed(order)) {
        places.emplace_back(pool, offset);
    }
    return places;
}

using Numbers = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Offsets = nanobind::ndarray<nanobind::numpy, std::int64_t, nanobind::ndim<1>>;

constexpr std::size_t MOST_BUFFERS = std::size_t{1} << 30;

// The arrays are those of a usmp_build.planner.memory.timeline.Timeline.
std::pair<Offsets, std::int64_t> plan_timeline(const Numbers &lower, const Numbers &upper, const Numbers &size,
                                               const Numbers &alignment, std::int64_t work)
{
    const std::size_t count = lower.size();
    if (upper.size() != count || size.size() != count || alignment.size() != count || count >= MOST_BUFFERS) {
        throw std::invalid_argument("four arrays of one length are needed, and fewer than 2^30 buffers");
    }
    auto plan = std::make_unique<usmp::TimelinePlan>();
    {
        const nanobind::gil_scoped_release others_may_run;
        *plan = usmp::plan_timeline({lower.data(), upper.data(), size.data(), alignment.data(), count}, work);
    }
    usmp::TimelinePlan *const held = plan.release();
    const nanobind::capsule owner(held, [](void *of) noexcept { delete static_cast<usmp::TimelinePlan *>(of); });
    return {Offsets(held->offsets.data(), {count}, owner), held->work};
}

} // namespace

NB_MODULE(_usmp_build_core, module)
{
    namespace nb = nanobind;

    module.attr("__version__") = USMP_VERSION;
    nb::class_<usmp::Strip>(module, "Strip")
        .def("__init__", [](usmp::Strip *self, std::vector<Units> sizes, std::vector<Units> alignments,
                            std::vector<Units> fixed, const Triples &neighbors, const Triples &spans, int sections,
                            bool linear) {
            new (self) usmp::Strip(make_strip(std::move(sizes), std::move(alignments), std::move(fixed), neighbors,
                                              spans, sections, linear));
        });
    module.def(
        "search",
        [](const usmp::Strip &strip, Units capacity, std::int64_t nodes) {
            const usmp::Answer answer = usmp::search(strip, capacity, nodes);
            return std::make_tuple(static_cast<int>(answer.status), answer.offsets, answer.nodes);
        },
        nb::call_guard<nb::gil_scoped_release>());
    nb::class_<usmp::Search>(module, "Search")
        .def(nb::init<const usmp::Strip &>(), nb::keep_alive<1, 2>())
        .def(
            "turn",
            [](usmp::Search &self, Units capacity, std::int64_t limit, std::int64_t percent, std::int64_t nodes) {
                const usmp::Answer answer = self.turn(capacity, limit, percent, nodes);
                return std::make_tuple(static_cast<int>(answer.status), answer.offsets, answer.nodes);
            },
            nb::call_guard<nb::gil_scoped_release>());
    nb::class_<usmp::Sweep>(module, "Sweep")
        .def("__init__",
             [](usmp::Sweep *self, const std::vector<InSweep> &order) { new (self) usmp::Sweep(make_sweep(order)); })
        .def("packed", &usmp::Sweep::packed, nb::call_guard<nb::gil_scoped_release>());
    nb::class_<usmp::PoolFit>(module, "PoolFit")
        .def("__init__",
             [](usmp::PoolFit *self, std::vector<Units> limits, const std::vector<InPools> &buffers) {
                 new (self) usmp::PoolFit(make_pool_fit(std::move(limits), buffers));
             })
        .def("placed", &placed, nb::call_guard<nb::gil_scoped_release>());
    module.def("plan_timeline", &plan_timeline);
}
