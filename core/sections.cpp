#include "sections.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace usmp {

Range Sections::clip(Range range) const
{
    return {std::max(0, range.first), std::min(count() - 1, range.last)};
}

Sections make_sections(std::vector<Block> blocks, const std::vector<std::int64_t> &lower,
                       const std::vector<std::int64_t> &upper)
{
    Sections sections = {std::move(blocks), {}, {}, {}, {}};
    std::vector<std::int64_t> ends = upper;
    std::sort(ends.begin(), ends.end());
    std::size_t dead = 0;
    sections.lives.reserve(lower.size());
    for (std::size_t i = 0; i < lower.size(); ++i) {
        const std::size_t before = dead;
        while (ends[dead] <= lower[i]) {
            ++dead;
        }
        if (i == 0 || dead > before) {
            sections.births.push_back(to_index(i));
            sections.deaths.push_back(to_index(dead));
        }
        sections.lives.push_back({to_index(sections.births.size()) - 1, 0});
    }
    sections.loads.assign(sections.births.size() + 1, 0);
    sections.births.push_back(to_index(lower.size()));
    for (std::size_t i = 0; i < lower.size(); ++i) {
        const auto born = std::lower_bound(lower.begin(), lower.end(), upper[i]) - lower.begin();
        Range &life = sections.lives[i];
        life.last = sections.lives[static_cast<std::size_t>(born) - 1].first;
        sections.loads[life.first] += sections.blocks[i].size;
        sections.loads[life.last + 1] -= sections.blocks[i].size;
    }
    std::partial_sum(sections.loads.begin(), sections.loads.end(), sections.loads.begin());
    sections.loads.pop_back();
    return sections;
}

std::vector<Bytes> fullest(const Sections &sections)
{
    std::vector<Bytes> found(sections.lives.size(), 0);
    std::vector<Bytes> highest = sections.loads; // of `width` sections, from each on
    for (Index width = 1; width <= sections.count(); width *= 2) {
        for (std::size_t i = 0; i < found.size(); ++i) {
            const Range life = sections.lives[i];
            const Index length = life.last - life.first + 1;
            if (width <= length && length / 2 < width) {
                found[i] = std::max(highest[life.first], highest[life.last - width + 1]);
            }
        }
        for (Index section = 0; section + width < sections.count(); ++section) {
            highest[section] = std::max(highest[section], highest[section + width]);
        }
    }
    return found;
}

// A note is made as soon as half of what there is to look at is dead: so all notes together are no longer than all
// buffers, and who looks for the living finds no more dead ones than living ones.
Alive::Alive(const Sections &sections) : sections_(sections)
{
    notes_.push_back({0, 0, 0});
    for (Index section = 0; section < sections.count(); ++section) {
        const Note &latest = notes_.back();
        const Index born = sections.births[section];
        const auto looked_at = to_index(latest.stop - latest.start) + born - sections.births[latest.section];
        if (looked_at >= 2 * (born - sections.deaths[section]) && looked_at > 0) {
            Indices some;
            carried(latest, section, [&](Index buffer) { some.push_back(buffer); });
            notes_.push_back({section, noted_.size(), noted_.size() + some.size()});
            noted_.insert(noted_.end(), some.begin(), some.end());
        }
        note_of_.push_back(to_index(notes_.size()) - 1);
    }
}

} // namespace usmp
