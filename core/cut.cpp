#include "cut.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace usmp {

namespace {

// A buffer that is a part of a strip.
struct Item {
    Range life;
    Bytes size;
};

// Conflicts of members with each other and with what stays.
void add_neighbors(const std::vector<Item> &items, std::size_t members, Strip &strip)
{
    for (std::size_t i = 0; i < items.size(); ++i) {
        for (std::size_t j = 0; j < (i < members ? items.size() : members); ++j) {
            if (j != i && meet(items[i].life, items[j].life)) {
                strip.neighbors[i].push_back({to_index(j), items[i].size, items[j].size});
            }
        }
    }
}

// Drop obstacles that meet no member, and make one of those that touch and live as long as any member.
std::vector<Obstacle> joined(std::vector<Obstacle> obstacles, Range hull)
{
    std::sort(obstacles.begin(), obstacles.end(), [](const Obstacle &a, const Obstacle &b) {
        return std::tie(a.offset, a.life.first) < std::tie(b.offset, b.life.first);
    });
    std::vector<Obstacle> found;
    bool spans = false; // the last one lives as long
    for (Obstacle &next : obstacles) {
        if (!meet(next.life, hull)) {
            continue;
        }
        const bool as_long = next.life.first <= hull.first && hull.last <= next.life.last;
        if (as_long && spans && found.back().offset + found.back().size == next.offset) {
            found.back().size += next.size;
            continue;
        }
        if (as_long) {
            next.life = hull;
        }
        spans = as_long;
        found.push_back(next);
    }
    return found;
}

} // namespace

Cut cut_out(const Sections &sections, const TimelineFit &plan, Range core, Range around)
{
    Cut cut;
    Range hull = core; // of the members
    plan.alive().in(around, [&](Index i) {
        const Range life = sections.lives[i];
        if (life.first < around.first || around.last < life.last) {
            cut.fixed.push_back({life, plan.offsets[i], sections.blocks[i].size});
        } else if (meet(life, core)) {
            cut.members.push_back(i);
            hull = {std::min(hull.first, life.first), std::max(hull.last, life.last)};
        } else {
            cut.ring.push_back(i);
        }
    });
    cut.fixed = joined(std::move(cut.fixed), hull);
    return cut;
}

Strip make_strip(const Sections &sections, const Cut &cut, Range core)
{
    Strip strip = {{}, {}, {}, {}, {}, core.last - core.first + 1, true};
    std::vector<Item> items;
    for (const Index i : cut.members) {
        items.push_back({sections.lives[i], sections.blocks[i].size});
        strip.alignments.push_back(sections.blocks[i].alignment);
        strip.fixed.push_back(NO_PLACE);
    }
    for (const Obstacle &obstacle : cut.fixed) {
        items.push_back({obstacle.life, obstacle.size});
        strip.alignments.push_back(1);
        strip.fixed.push_back(obstacle.offset);
    }
    for (const Item &item : items) {
        const Index first = std::max(item.life.first, core.first) - core.first;
        const Index last = std::min(item.life.last, core.last) - core.first;
        strip.sizes.push_back(item.size);
        strip.spans.push_back({first <= last ? Span{first, last, item.size} : Span{0, 0, 0}});
    }
    strip.neighbors.resize(items.size());
    add_neighbors(items, cut.members.size(), strip);
    return strip;
}

} // namespace usmp
