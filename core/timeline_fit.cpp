#include "timeline_fit.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>

namespace usmp {

namespace {

constexpr std::int64_t STACKING = 16; // buffers looked at in the time of one look at the top

// The top of what is placed, as steps over the sections.
class Skyline {
  public:
    explicit Skyline(Index sections) : tops_({{0, 0}, {sections, 0}}) {}

    // Return the top over some sections, and make them one step that is to be raised.
    Bytes &join(Range range)
    {
        const auto first = split(range.first);
        const auto stop = split(range.last + 1);
        for (auto place = std::next(first); place != stop; ++place) {
            first->second = std::max(first->second, place->second);
        }
        tops_.erase(std::next(first), stop);
        return first->second;
    }

  private:
    std::map<Index, Bytes>::iterator split(Index section)
    {
        return tops_.emplace(section, std::prev(tops_.upper_bound(section))->second).first;
    }

    std::map<Index, Bytes> tops_; // from this section to the next that is here
};

// The top of what is placed, as a tree: of all sections below a node, the highest, and one that each of them has.
class Tops {
  public:
    explicit Tops(Index sections) : width_(1)
    {
        while (width_ < static_cast<std::size_t>(sections)) {
            width_ *= 2;
        }
        highest_.assign(2 * width_, 0);
        common_ = highest_;
    }

    Bytes highest(Range range) const
    {
        Bytes top = 0;
        cover(range, [&](std::size_t node) { top = std::max(top, highest_[node]); });
        above(range, [&](std::size_t node) { top = std::max(top, common_[node]); });
        return top;
    }

    // The new top is higher than any in the range.
    void raise(Range range, Bytes top)
    {
        cover(range, [&](std::size_t node) { highest_[node] = common_[node] = top; });
        above(range, [&](std::size_t node) { highest_[node] = std::max(highest_[node], top); });
    }

  private:
    // Visit nodes that cover a range of sections, each section once.
    template <class Visit> void cover(Range range, Visit visit) const
    {
        std::size_t begin = width_ + range.first;
        std::size_t end = width_ + range.last + 1;
        for (; begin < end; begin /= 2, end /= 2) {
            if (begin % 2 == 1) {
                visit(begin++);
            }
            if (end % 2 == 1) {
                visit(--end);
            }
        }
    }

    // Visit the nodes above the first and the last section: among them are those above the nodes that cover the range.
    template <class Visit> void above(Range range, Visit visit) const
    {
        for (const Index section : {range.first, range.last}) {
            for (std::size_t node = (width_ + section) / 2; node > 0; node /= 2) {
                visit(node);
            }
        }
    }

    std::size_t width_;
    std::vector<Bytes> highest_;
    std::vector<Bytes> common_;
};

Bytes binary_digits(Bytes number)
{
    Bytes count = 0;
    for (; number > 0; number >>= 1) {
        ++count;
    }
    return count;
}

} // namespace

TimelineFit::TimelineFit(const Sections &sections, Order order)
    : offsets(sections.blocks.size(), NO_PLACE), turns(sections.blocks.size()), sections_(sections), alive_(sections),
      loads_(fullest(sections)), order_(sections.blocks.size())
{
    const auto key = [&](Index i) {
        const Range life = sections.lives[i];
        const Bytes size = sections.blocks[i].size;
        const Index length = life.last - life.first + 1;
        const Bytes first = order == Order::size ? size : order == Order::length ? binary_digits(length) : 0;
        return std::make_tuple(-first, -loads_[i], -length, -size, i);
    };
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](Index a, Index b) { return key(a) < key(b); });
    for (std::size_t turn = 0; turn < order_.size(); ++turn) {
        turns[order_[turn]] = to_index(turn);
    }
}

Bytes TimelineFit::end(Index buffer) const
{
    return offsets[buffer] + sections_.blocks[buffer].size;
}

Bytes TimelineFit::peak() const
{
    Bytes highest = 0;
    for (Index i = 0; i < sections_.buffers(); ++i) {
        highest = std::max(highest, end(i));
    }
    return highest;
}

void TimelineFit::place_all(std::int64_t most)
{
    auto next = order_.begin();
    for (; next != order_.end() && work < most; ++next) {
        offsets[*next] = least_free(*next);
    }
    pile_rest();
}

void TimelineFit::stack_all(bool by_area, std::int64_t most)
{
    using Place = std::tuple<Bytes, Index, Index>; // where it could be when last looked at, its rank, and the buffer
    Indices ranked = order_;
    if (by_area) {
        const auto area = [&](Index i) {
            return sections_.blocks[i].size * (sections_.lives[i].last - sections_.lives[i].first + 1);
        };
        std::stable_sort(ranked.begin(), ranked.end(), [&](Index a, Index b) {
            return std::make_tuple(-loads_[a], -area(a)) < std::make_tuple(-loads_[b], -area(b));
        });
    }
    std::priority_queue<Place, std::vector<Place>, std::greater<Place>> queue;
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
        queue.emplace(0, to_index(rank), ranked[rank]);
    }
    Tops tops(sections_.count());
    for (; !queue.empty() && work < most; work += STACKING) {
        const auto [floor, rank, buffer] = queue.top();
        const Bytes offset = align_up(tops.highest(sections_.lives[buffer]), sections_.blocks[buffer].alignment);
        queue.pop();
        if (offset > floor) {
            queue.emplace(offset, rank, buffer);
            continue;
        }
        offsets[buffer] = offset;
        tops.raise(sections_.lives[buffer], end(buffer));
    }
    pile_rest();
}

Bytes TimelineFit::least_free(Index buffer)
{
    taken_.clear();
    alive_.in(sections_.lives[buffer], [&](Index other) {
        if (offsets[other] != NO_PLACE) {
            taken_.emplace_back(offsets[other], end(other));
        }
    });
    work += sections_.alive(sections_.lives[buffer]);
    std::sort(taken_.begin(), taken_.end());
    const Block &block = sections_.blocks[buffer];
    Bytes offset = 0;
    for (const auto &[start, stop] : taken_) {
        if (offset + block.size <= start) {
            break;
        }
        if (offset < stop) {
            offset = align_up(stop, block.alignment);
        }
    }
    return offset;
}

void TimelineFit::pile_rest()
{
    Indices placed = order_;
    const auto is_placed = [&](Index i) { return offsets[i] != NO_PLACE; };
    const auto middle = std::stable_partition(placed.begin(), placed.end(), is_placed);
    const Indices rest(middle, placed.end());
    if (rest.empty()) {
        return;
    }
    placed.erase(middle, placed.end());
    Skyline skyline(sections_.count());
    std::sort(placed.begin(), placed.end(), [&](Index a, Index b) { return end(a) < end(b); });
    for (const Index buffer : placed) {
        skyline.join(sections_.lives[buffer]) = end(buffer);
    }
    for (const Index buffer : rest) {
        Bytes &top = skyline.join(sections_.lives[buffer]);
        offsets[buffer] = align_up(top, sections_.blocks[buffer].alignment);
        top = end(buffer);
    }
}

} // namespace usmp
