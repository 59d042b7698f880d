#include "repair.h"

#include <algorithm>

#include "search.h"

namespace usmp {

namespace {

// Margins: sections on both sides of a buffer that is too high.  They are doubled from the first on, up to the second
// with the least effort; each further effort tries one more.
constexpr Index NARROW = 8;
constexpr Index WIDE = 64;
constexpr Index WIDEST = 256;
constexpr Index REACHES[] = {2, 8};       // where first fit makes room around a core, as multiples of the margin
constexpr Index CROWDED = 1000;           // most buffers born in a core that is joined of overlapping ones
constexpr Index MOST = 1500;              // most buffers and obstacles of a search
constexpr Index MOST_AROUND = 16 * MOST;  // most buffers visited to state a search
constexpr Bytes LARGEST = Bytes{1} << 50; // the search multiplies bytes by sections, and by up to 1024 besides
constexpr int EFFORTS = 10;               // each with four times as many nodes as the one before
constexpr Bytes FINE = 1024;              // the last target that fails is within this part of the bound of the peak
constexpr std::int64_t AT_ONCE = 64;      // sections and neighbors that cost a node as much as one visit of a buffer
constexpr std::int64_t STATING = 32;      // nodes that take as long as stating the search

std::int64_t node_cost(const Strip &strip)
{
    std::int64_t cost = 0;
    for (std::size_t i = 0; i < strip.sizes.size(); ++i) {
        const Span &span = strip.spans[i].front();
        cost += 1 + (static_cast<std::int64_t>(strip.neighbors[i].size()) + span.last - span.first) / AT_ONCE;
    }
    return cost;
}

bool is_countable(const Strip &strip)
{
    Bytes sum = 0;
    for (std::size_t i = 0; i < strip.sizes.size(); ++i) {
        sum += strip.sizes[i] + strip.alignments[i];
    }
    return sum < LARGEST / strip.sections;
}

} // namespace

void Repair::run()
{
    const Bytes bound = *std::max_element(sections_.loads.begin(), sections_.loads.end());
    Bytes highest = plan_.peak();
    for (int effort = 0; effort < EFFORTS && highest > bound && !is_spent(); ++effort) {
        Bytes target = bound;
        Bytes failed = bound;
        do {
            if (!bring_below(target, effort)) {
                failed = target;
            }
            highest = plan_.peak();
            target = failed + (highest - failed) / 4;
        } while (highest - failed > bound / FINE && !is_spent());
    }
}

bool Repair::bring_below(Bytes target, int effort)
{
    Indices high;
    for (Index i = 0; i < sections_.buffers(); ++i) {
        if (plan_.end(i) > target) {
            high.push_back(i);
        }
    }
    const Index widest = std::min(WIDEST, WIDE << effort);
    for (Index margin = NARROW; margin <= widest; margin *= 2) {
        for (const Index reach : REACHES) {
            for (const Range core : cores(high, margin)) {
                if (!is_spent()) {
                    relieve(core, {target, effort, margin, reach * margin});
                }
            }
            const auto is_low = [&](Index buffer) { return plan_.end(buffer) <= target; };
            high.erase(std::remove_if(high.begin(), high.end(), is_low), high.end());
        }
    }
    return high.empty();
}

std::vector<Range> Repair::cores(const Indices &high, Index margin) const
{
    std::vector<Range> found;
    for (const Index buffer : high) {
        const Range life = sections_.lives[buffer];
        const Range range = sections_.clip({life.first - margin, life.last + margin});
        if (!found.empty() && range.first <= found.back().last
            && sections_.births[range.last + 1] - sections_.births[found.back().first] <= CROWDED) {
            found.back().last = std::max(found.back().last, range.last);
        } else {
            found.push_back(range);
        }
    }
    return found;
}

void Repair::relieve(Range core, const Attempt &attempt)
{
    const Range around = sections_.clip({core.first - attempt.reach, core.last + attempt.reach});
    if (sections_.alive(around) > MOST_AROUND) {
        return;
    }
    plan_.work += sections_.alive(around);
    const Cut cut = cut_out(sections_, plan_, core, around);
    const auto is_high = [&](Index buffer) { return plan_.end(buffer) > attempt.target; };
    if (to_index(cut.members.size() + cut.fixed.size()) > MOST
        || std::none_of(cut.members.begin(), cut.members.end(), is_high)) {
        return;
    }
    const Strip strip = make_strip(sections_, cut, core);
    const std::int64_t cost = node_cost(strip);
    plan_.work += STATING * cost;
    if (!is_countable(strip) || is_spent()) {
        return;
    }
    const auto count = static_cast<std::int64_t>(strip.sizes.size());
    const std::int64_t nodes = std::min(count << (2 * attempt.effort), (limit_ - plan_.work) / cost);
    const Answer answer = search(strip, attempt.target, nodes);
    plan_.work += answer.nodes * cost + count;
    if (answer.status == Status::fits) {
        move(cut, answer.offsets, attempt.target);
    }
}

void Repair::move(const Cut &cut, const std::vector<Bytes> &offsets, Bytes target)
{
    Indices moved = cut.members;
    moved.insert(moved.end(), cut.ring.begin(), cut.ring.end());
    std::vector<Bytes> before;
    for (const Index buffer : moved) {
        before.push_back(plan_.offsets[buffer]);
    }
    for (std::size_t i = 0; i < cut.members.size(); ++i) {
        plan_.offsets[cut.members[i]] = offsets[i];
    }
    if (!put_back(cut.ring, target)) {
        for (std::size_t i = 0; i < moved.size(); ++i) {
            plan_.offsets[moved[i]] = before[i];
        }
    }
}

bool Repair::put_back(Indices ring, Bytes target)
{
    std::sort(ring.begin(), ring.end(), [&](Index a, Index b) { return plan_.turns[a] < plan_.turns[b]; });
    for (const Index buffer : ring) {
        plan_.offsets[buffer] = NO_PLACE;
    }
    for (const Index buffer : ring) {
        plan_.offsets[buffer] = plan_.least_free(buffer);
        if (plan_.end(buffer) > target || is_spent()) {
            return false;
        }
    }
    return true;
}

} // namespace usmp
