#include "cut.h"

#include <algorithm>

namespace usmp {

namespace {

// Conflicts of members with each other and with what stays.
void add_neighbors(const Sections &sections, const Indices &all, std::size_t members, Strip &strip)
{
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Bytes size = sections.blocks[all[i]].size;
        for (std::size_t j = 0; j < (i < members ? all.size() : members); ++j) {
            if (j != i && meet(sections.lives[all[i]], sections.lives[all[j]])) {
                strip.neighbors[i].push_back({to_index(j), size, sections.blocks[all[j]].size});
            }
        }
    }
}

} // namespace

Cut cut_out(const Sections &sections, const Alive &alive, Range core, Range around)
{
    Cut cut;
    Range hull = core; // of the members
    alive.in(around, [&](Index i) {
        const Range life = sections.lives[i];
        if (life.first < around.first || around.last < life.last) {
            cut.fixed.push_back(i);
        } else if (meet(life, core)) {
            cut.members.push_back(i);
            hull = {std::min(hull.first, life.first), std::max(hull.last, life.last)};
        } else {
            cut.ring.push_back(i);
        }
    });
    const auto is_far = [&](Index i) { return !meet(sections.lives[i], hull); };
    cut.fixed.erase(std::remove_if(cut.fixed.begin(), cut.fixed.end(), is_far), cut.fixed.end());
    return cut;
}

Strip make_strip(const Sections &sections, const std::vector<Bytes> &offsets, const Cut &cut, Range core)
{
    Strip strip = {{}, {}, {}, {}, {}, core.last - core.first + 1, true};
    Indices all = cut.members;
    all.insert(all.end(), cut.fixed.begin(), cut.fixed.end());
    for (const Index i : all) {
        const Block &block = sections.blocks[i];
        const Index first = std::max(sections.lives[i].first, core.first) - core.first;
        const Index last = std::min(sections.lives[i].last, core.last) - core.first;
        strip.sizes.push_back(block.size);
        strip.alignments.push_back(block.alignment);
        strip.fixed.push_back(strip.fixed.size() < cut.members.size() ? NOWHERE : offsets[i]);
        strip.spans.push_back({first <= last ? Span{first, last, block.size} : Span{0, 0, 0}});
    }
    strip.neighbors.resize(all.size());
    add_neighbors(sections, all, cut.members.size(), strip);
    return strip;
}

} // namespace usmp
