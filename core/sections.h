// Sections of a timeline, and the buffers alive in each.
//
//     offset ^    ______________
//            |   |      2       |           A section begins with a birth that follows a death:
//            |   |______________|           births  [0, 2]     0 and 1 are born in the first, 2 and 3 in the second
//            |  ______   ___________        deaths  [0, 1]     0 is dead when the second begins
//            | |__0___| |____3______|
//            | |______1_______|             At some step of each, all that live in it are alive together.
//            +-+------+-+----------------> step
//
// Buffers are numbered in the order of their births, so the buffers born in a range of sections are a range of
// numbers.
#ifndef USMP_SECTIONS_H
#define USMP_SECTIONS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "offset.h"

namespace usmp {

using Bytes = Units;
using Index = int; // of a buffer or a section
using Indices = std::vector<Index>;

inline Index to_index(std::size_t value)
{
    return static_cast<Index>(value);
}

// Sections, from one to another.
struct Range {
    Index first;
    Index last;
};

// What a buffer is, but for its life.
struct Block {
    Bytes size; // rounded up to a multiple of the least alignment
    Bytes alignment;
};

// Buffers in the order of their births.
struct Sections {
    std::vector<Block> blocks;
    std::vector<Range> lives;
    Indices births;           // of each section, the first buffer that is born in it or later; and the end
    Indices deaths;           // of each section, how many buffers died before it
    std::vector<Bytes> loads; // of each section

    Index count() const { return to_index(loads.size()); }
    Index buffers() const { return to_index(blocks.size()); }
    Range clip(Range range) const;
    // How many are alive in some section of a range.
    Index alive(Range range) const { return births[range.last + 1] - deaths[range.first]; }
};

inline bool meet(Range one, Range other)
{
    return one.first <= other.last && other.first <= one.last;
}

// Buffers that are alive in [lower, upper), sorted by `lower`.
Sections make_sections(std::vector<Block> blocks, const std::vector<std::int64_t> &lower,
                       const std::vector<std::int64_t> &upper);

// Of each buffer, the load of the fullest section that it lives in.
std::vector<Bytes> fullest(const Sections &sections);

// Tells who is alive where: now and then it notes who is, and looks from there on.
class Alive {
  public:
    explicit Alive(const Sections &sections);

    // Visit all that are alive in some section of this range.
    template <class Visit> void in(Range range, Visit visit) const
    {
        carried(notes_[note_of_[range.first]], range.first, visit);
        for (Index i = sections_.births[range.first]; i < sections_.births[range.last + 1]; ++i) {
            visit(i);
        }
    }

  private:
    // Who was alive in a section, and born before it: a range of `noted_`.
    struct Note {
        Index section;
        std::size_t start;
        std::size_t stop;
    };

    // Visit those that are alive in a section and born before it.
    template <class Visit> void carried(const Note &note, Index section, Visit visit) const
    {
        for (std::size_t k = note.start; k < note.stop; ++k) {
            if (sections_.lives[noted_[k]].last >= section) {
                visit(noted_[k]);
            }
        }
        for (Index i = sections_.births[note.section]; i < sections_.births[section]; ++i) {
            if (sections_.lives[i].last >= section) {
                visit(i);
            }
        }
    }

    const Sections &sections_;
    std::vector<Note> notes_;
    Indices note_of_; // section → note
    Indices noted_;
};

} // namespace usmp

#endif
