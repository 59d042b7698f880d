// The machine around the core: flash at 0, which takes some cycles more for each word, and RAM at 0x20000000.
//
//     machine IMAGE WAIT
//
// What the program stores at 0xF0000000 is a line of output, with cycles, instructions, and cycles that the core waited
// for data and for code.  A store at 0xF0000004 writes a byte to the standard error, one at 0xF0000008 ends the program.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "Vcore.h"

namespace {

constexpr uint32_t SIZE = 16u << 20;
constexpr uint32_t RAM = 0x20000000, DEVICE = 0xF0000000;
constexpr uint64_t MOST_CYCLES = 2000000000;

std::vector<uint8_t> flash(SIZE), ram(SIZE);
uint64_t counts[4];

uint8_t *place(uint32_t address) {
    if (address < SIZE - 3) {
        return &flash[address];
    }
    if (address - RAM < SIZE - 3) {
        return &ram[address - RAM];
    }
    std::fprintf(stderr, "there is nothing at 0x%08x\n", static_cast<unsigned>(address));
    std::exit(3);
}

uint32_t word_at(uint32_t address) {
    const uint8_t *const bytes = place(address & ~3u);
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24;
}

void device(uint32_t offset, uint32_t value) {
    if (offset == 8) {
        std::fflush(stdout);
        std::exit(static_cast<int>(value));
    } else if (offset == 4) {
        std::fputc(static_cast<int>(value & 0xff), stderr);
    } else {
        std::printf("%d", static_cast<int>(value));
        for (const uint64_t number : counts) {
            std::printf(" %llu", static_cast<unsigned long long>(number));
        }
        std::printf("\n");
    }
}

// A port of the memory: it grants a request after a wait, and answers in the next cycle.
class Port {
public:
    explicit Port(int wait) : wait_(wait) {}

    bool grants(bool requests, uint32_t address) {
        const int wait = requests && address < SIZE ? wait_ : 0;
        waited_ = requests ? waited_ : 0;
        return requests && waited_++ >= wait;
    }

    void answer(bool is_granted, uint32_t word) {
        waited_ = is_granted ? 0 : waited_;
        valid = is_granted;
        data = word;
    }

    bool valid = false;
    uint32_t data = 0;

private:
    const int wait_;
    int waited_ = 0;
};

}  // namespace

int main(int count, char **words) {
    std::FILE *const image = count == 3 ? std::fopen(words[1], "rb") : nullptr;
    if (image == nullptr) {
        std::fprintf(stderr, "usage: machine IMAGE WAIT\n");
        return 2;
    }
    if (std::fread(flash.data(), 1, SIZE, image) == SIZE) {
        std::fprintf(stderr, "the image is too large\n");
        return 2;
    }
    std::fclose(image);
    Vcore core;
    Port code(std::atoi(words[2])), data(std::atoi(words[2]));

    for (uint64_t cycle = 0; cycle < MOST_CYCLES; ++cycle) {
        core.reset_n = cycle > 4;
        core.clk = 0;
        core.code_valid = code.valid;
        core.code_word = code.data;
        core.data_valid = data.valid;
        core.data_word = data.data;
        core.eval();
        const bool fetches = core.reset_n && code.grants(core.code_request, core.code_address);
        const bool accesses = core.reset_n && data.grants(core.data_request, core.data_address);
        core.code_grant = fetches;
        core.data_grant = accesses;
        core.eval();
        const uint32_t fetched = fetches ? word_at(core.code_address) : 0;
        uint32_t read = 0;
        if (accesses && core.data_address >= DEVICE) {
            device(core.data_address - DEVICE, core.data_written);
        } else if (accesses && core.data_writes) {
            uint8_t *const bytes = place(core.data_address & ~3u);
            for (int i = 0; i < 4; ++i) {
                if (core.data_bytes >> i & 1) {
                    bytes[i] = static_cast<uint8_t>(core.data_written >> 8 * i);
                }
            }
        } else if (accesses) {
            read = word_at(core.data_address);
        }
        counts[0] = cycle;
        for (int i = 0; i < 3; ++i) {
            counts[i + 1] += core.events >> i & 1;
        }
        core.clk = 1;
        core.eval();
        code.answer(fetches, fetched);
        data.answer(accesses, read);
    }
    std::fprintf(stderr, "the program takes more than two billion cycles\n");
    return 3;
}
