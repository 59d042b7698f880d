#include "first_fit.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

namespace usmp {

namespace {

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

Bytes binary_digits(Bytes number)
{
    Bytes count = 0;
    for (; number > 0; number >>= 1) {
        ++count;
    }
    return count;
}

} // namespace

FirstFit::FirstFit(const Sections &sections, Order order)
    : offsets(sections.blocks.size(), NOWHERE), turns(sections.blocks.size()), sections_(sections), alive_(sections),
      order_(sections.blocks.size())
{
    const std::vector<Bytes> loads = fullest(sections);
    const auto key = [&](Index i) {
        const Range life = sections.lives[i];
        const Bytes size = sections.blocks[i].size;
        const Index length = life.last - life.first + 1;
        const Bytes first = order == Order::size ? size : order == Order::length ? binary_digits(length) : 0;
        return std::make_tuple(-first, -loads[i], -length, -size, i);
    };
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](Index a, Index b) { return key(a) < key(b); });
    for (std::size_t turn = 0; turn < order_.size(); ++turn) {
        turns[order_[turn]] = to_index(turn);
    }
}

Bytes FirstFit::end(Index buffer) const
{
    return offsets[buffer] + sections_.blocks[buffer].size;
}

Bytes FirstFit::peak() const
{
    Bytes highest = 0;
    for (Index i = 0; i < sections_.buffers(); ++i) {
        highest = std::max(highest, end(i));
    }
    return highest;
}

void FirstFit::place_all(std::int64_t most)
{
    auto next = order_.begin();
    for (; next != order_.end() && work < most; ++next) {
        offsets[*next] = least_free(*next);
    }
    if (next != order_.end()) {
        pile(Indices(next, order_.end()));
    }
}

Bytes FirstFit::least_free(Index buffer)
{
    taken_.clear();
    alive_.in(sections_.lives[buffer], [&](Index other) {
        if (offsets[other] != NOWHERE) {
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

void FirstFit::pile(const Indices &rest)
{
    Skyline skyline(sections_.count());
    Indices placed;
    std::copy_if(order_.begin(), order_.end(), std::back_inserter(placed), [&](Index i) { return offsets[i] >= 0; });
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
