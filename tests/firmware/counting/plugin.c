/* A plugin of QEMU that counts what firmware does from one place in its code to another: instructions, what decides how
   many cycles they take, and bytes read and written in named regions of memory and outside of them.  For systems with
   one processor of 32 bits, no paging.

   Arguments; numbers are written as 0x1f, and up to 4096 are possible of each of the first three:
     region=NAME:BASE:SIZE  where regions overlap, the first one given gets the bytes; NAME has no ':', '"' or '\'
     mark=NAME:ADDRESS      just before the instruction at ADDRESS, an interval ends and the next one begins
     ignore=BASE:SIZE       code that does not count, nor do its accesses; marks in it work
     out=FILE               gets a line of JSON for each interval; the last one ends with QEMU and is named "end"
     config=FILE            more arguments, one a line

   What is seen in QEMU 7.2 (most of it is tested by test_plugin.py):
   - An instruction counts when it starts: also one that then faults, that IT skips, and LE in every turn of a loop.
   - Bytes count when an access is done: not if it faults, nor for lanes of a vector that are predicated off.  PUSH,
     LDM, LDRD, VLDM, vector loads and stores (narrowing, gathering, interleaving) count exactly what they transfer.
     STREX, SC and AMO count as a read and a write.
   - What LDM did before it faulted counts, and again when it is repeated; with -icount also where it reaches a device.
   - A branch is taken when what runs is not what follows in memory, exceptions included.  These count in ignored code,
     too.
   - Not seen: instruction fetch, reading the vector table, what exceptions stack and unstack (their handlers are seen),
     and what QEMU itself transfers for semihosting. */
#include "qemu_plugin.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* For scanf: a name can be written into JSON as it is. */
#define NAME "%255[^:\"\\]"
#define NUMBER "0x%" SCNx64

enum { MOST_ROWS = 4096, MOST_LISTED = 8 };

struct row {
    char name[256]; /* as NAME says */
    uint64_t base, size;
    uint64_t bytes[2]; /* read, written */
};

static struct table {
    size_t count;
    struct row rows[MOST_ROWS];
} regions, marks, ignored;
static FILE *out;

/* What is counted in an interval, together with `bytes` of the regions. */
static uint64_t instructions;
static struct row outside;
static struct access {
    uint64_t address, pc, size;
    bool is_write;
} list[MOST_LISTED];
static size_t listed;

/* What else decides how long it takes: words read or written, cycles that unaligned ones cost a Cortex-M4 in addition,
   branches taken and, on Arm, instructions of some kinds. */
enum { ACCESSES, UNALIGNED, BRANCHES, MULTIPLICATIONS, DIVISIONS, FLOAT_DIVISIONS, FLOAT_SUMS, TIMINGS };
static const char *const timing_names[TIMINGS] = {
    "accesses", "unaligned", "branches", "multiplications", "divisions", "float_divisions", "float_sums"};
static uint64_t timing[TIMINGS];
static bool is_arm;

/* Encodings of Thumb; the first one that fits is it.  Without a second mask the first halfword decides. */
static const struct encoding {
    uint16_t mask, value, second_mask, second_value;
    int kind;
} encodings[] = {
    {0xfff0, 0xfb90, 0, 0, DIVISIONS},                   /* SDIV */
    {0xfff0, 0xfbb0, 0, 0, DIVISIONS},                   /* UDIV */
    {0xff00, 0xfb00, 0, 0, MULTIPLICATIONS},             /* MUL, MLA, SMLAD, SMULL, ... */
    {0xffc0, 0x4340, 0, 0, MULTIPLICATIONS},             /* MULS */
    {0xffb0, 0xee80, 0x0e50, 0x0a00, FLOAT_DIVISIONS},   /* VDIV */
    {0xffbf, 0xeeb1, 0x0ed0, 0x0ac0, FLOAT_DIVISIONS},   /* VSQRT */
    {0xffa0, 0xee00, 0x0e10, 0x0a00, FLOAT_SUMS},        /* VMLA, VMLS, VNMLA, VNMLS */
    {0xffb0, 0xee90, 0x0e10, 0x0a00, FLOAT_SUMS},        /* VFNMA, VFNMS */
    {0xffb0, 0xeea0, 0x0e10, 0x0a00, FLOAT_SUMS},        /* VFMA, VFMS */
};

/* All addresses, cut where a region begins or ends, so that overlaps are settled before anything runs. */
static struct segment {
    uint64_t base; /* it ends where the next one begins */
    struct row *owner;
} segments[2 * MOST_ROWS + 2] = {{0, &outside}, {UINT64_MAX, NULL}};
static size_t segment_count = 1;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = 1;

/* Finds by bisection, but tries first where the same instruction found one before. */
static size_t segment_of(uint64_t address, uint64_t pc)
{
    static size_t found[256];
    size_t *last = &found[pc / 2 % 256], low = 0, high = segment_count;

    if (segments[*last].base <= address && address < segments[*last + 1].base) {
        return *last;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (segments[middle].base <= address) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *last = low;
    return low;
}

/* Returns the segment that begins at the address, after cutting one in two if need be. */
static size_t cut_at(uint64_t address)
{
    size_t i = segment_of(address, 0);

    if (segments[i].base < address) {
        memmove(&segments[i + 1], &segments[i], (++segment_count - i) * sizeof segments[0]);
        segments[++i].base = address;
    }
    return i;
}

static void give_segments_to(struct row *region)
{
    size_t first = cut_at(region->base), end = cut_at(region->base + region->size);

    for (size_t i = first; i < end; ++i) {
        if (segments[i].owner == &outside) {
            segments[i].owner = region;
        }
    }
}

static void on_access(unsigned cpu UNUSED, uint32_t access, uint64_t address, void *user)
{
    uint64_t left = UINT64_C(1) << qemu_plugin_mem_size_shift(access), pc = (uintptr_t)user;
    bool is_write = qemu_plugin_mem_is_store(access);

    timing[ACCESSES] += left > 4 ? left / 4 : 1;
    timing[UNALIGNED] += address % 2 ? left / 2 : left == 4 && address % 4;
    for (uint64_t size; left > 0; address += size, left -= size) {
        size_t i = segment_of(address, pc);
        uint64_t room = segments[i + 1].base - address;

        size = left < room ? left : room;
        segments[i].owner->bytes[is_write] += size;
        if (segments[i].owner == &outside && listed < MOST_LISTED) {
            list[listed++] = (struct access){address, pc, size, is_write};
        }
    }
}

static void write_bytes(struct row *row, const char *after)
{
    fprintf(out, "{\"read\": %" PRIu64 ", \"written\": %" PRIu64 "%s", row->bytes[0], row->bytes[1], after);
    row->bytes[0] = row->bytes[1] = 0;
}

/* `user` has where a block begins and, in the upper half, how long it is. */
static void on_block(unsigned cpu UNUSED, void *user)
{
    static uint64_t next;
    uint64_t begin = (uintptr_t)user & UINT32_MAX;

    timing[BRANCHES] += begin != next;
    next = begin + ((uint64_t)(uintptr_t)user >> 32);
}

static void on_mark(unsigned cpu UNUSED, void *user)
{
    const char *name = ((const struct row *)user)->name, *separator = "";

    fprintf(out, "{\"mark\": \"%s\", \"instructions\": %" PRIu64 ", \"regions\": {", name, instructions);
    for (struct row *region = regions.rows; region < regions.rows + regions.count; ++region) {
        if (region->bytes[0] || region->bytes[1]) {
            fprintf(out, "%s\"%s\": ", separator, region->name);
            write_bytes(region, "}");
            separator = ", ";
        }
    }
    fputs("}, \"timing\": {", out);
    for (int i = 0; i < TIMINGS; ++i) {
        fprintf(out, "%s\"%s\": %" PRIu64, i ? ", " : "", timing_names[i], timing[i]);
        timing[i] = 0;
    }
    fputs("}, \"outside\": ", out);
    write_bytes(&outside, ", \"first\": [");
    for (const struct access *one = list; one < list + listed; ++one) {
        fprintf(out, "%s{\"address\": \"0x%" PRIx64 "\", ", one == list ? "" : ", ", one->address);
        fprintf(out, "\"pc\": \"0x%" PRIx64 "\", \"size\": %" PRIu64 ", ", one->pc, one->size);
        fprintf(out, "\"write\": %s}", one->is_write ? "true" : "false");
    }
    fputs("]}}\n", out);
    instructions = listed = 0;
}

static void on_end(uint64_t id UNUSED, void *user UNUSED)
{
    struct row end = {.name = "end"};

    on_mark(0, &end);
    bool failed = ferror(out) != 0;

    if (fclose(out) != 0 || failed) {
        fputs("counting: the output could not be written\n", stderr);
    }
}

static bool fits(const struct encoding *one, const struct qemu_plugin_insn *instruction)
{
    uint16_t halves[2] = {0, 0};
    size_t size = qemu_plugin_insn_size(instruction);

    memcpy(halves, qemu_plugin_insn_data(instruction), size < sizeof halves ? size : sizeof halves);
    return (halves[0] & one->mask) == one->value && (halves[1] & one->second_mask) == one->second_value;
}

static void watch_kind(struct qemu_plugin_insn *instruction)
{
    for (size_t i = 0; is_arm && i < sizeof encodings / sizeof encodings[0]; ++i) {
        if (fits(&encodings[i], instruction)) {
            qemu_plugin_register_vcpu_insn_exec_inline(
                instruction, QEMU_PLUGIN_INLINE_ADD_U64, &timing[encodings[i].kind], 1);
            return;
        }
    }
}

static void watch(struct qemu_plugin_insn *instruction)
{
    uint64_t pc = qemu_plugin_insn_vaddr(instruction);

    for (struct row *mark = marks.rows; mark < marks.rows + marks.count; ++mark) {
        if (pc == mark->base) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_mark, QEMU_PLUGIN_CB_NO_REGS, mark);
        }
    }
    for (const struct row *range = ignored.rows; range < ignored.rows + ignored.count; ++range) {
        if (pc - range->base < range->size) {
            return;
        }
    }
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64, &instructions, 1);
    watch_kind(instruction);
    qemu_plugin_register_vcpu_mem_cb(
        instruction, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, (void *)(uintptr_t)pc);
}

static void on_translation(uint64_t id UNUSED, struct qemu_plugin_tb *block)
{
    uint64_t begin = qemu_plugin_tb_vaddr(block), size = 0;

    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);

        watch(instruction);
        size += qemu_plugin_insn_size(instruction);
    }
    qemu_plugin_register_vcpu_tb_exec_cb(
        block, on_block, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)(begin | size << 32));
}

static bool add(struct table *table, const struct row *row)
{
    bool good = table->count < MOST_ROWS && row->size <= UINT64_MAX - row->base;

    for (size_t i = 0; good && table == &regions && i < regions.count; ++i) {
        good = strcmp(row->name, regions.rows[i].name) != 0; /* it is a key in the output */
    }
    if (good) {
        table->rows[table->count++] = *row;
    }
    return good;
}

static bool read_argument(const char *text);

static bool read_config(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    bool good = file != NULL;

    while (good && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        good = read_argument(line);
    }
    return file && fclose(file) == 0 && good;
}

static bool read_argument(const char *text)
{
    struct row row = {.size = 1};
    int end = 0; /* stays 0 if the text does not match */
    bool good = false;

    if (sscanf(text, "region=" NAME ":" NUMBER ":" NUMBER "%n", row.name, &row.base, &row.size, &end) == 3) {
        good = text[end] == '\0' && add(&regions, &row);
    } else if (sscanf(text, "mark=" NAME ":" NUMBER "%n", row.name, &row.base, &end) == 2) {
        good = text[end] == '\0' && strcmp(row.name, "end") != 0 && add(&marks, &row);
    } else if (sscanf(text, "ignore=" NUMBER ":" NUMBER "%n", &row.base, &row.size, &end) == 2) {
        good = text[end] == '\0' && add(&ignored, &row);
    } else if (strncmp(text, "config=", 7) == 0) {
        good = read_config(text + 7);
    } else if (strncmp(text, "out=", 4) == 0 && !out) {
        out = fopen(text + 4, "w");
        good = out != NULL;
    }
    if (!good) {
        fprintf(stderr, "counting: argument \"%s\" cannot be used; plugin.c says what can\n", text);
    }
    return good;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argument_count, char **arguments)
{
    bool good = true;

    for (int i = 0; good && i < argument_count; ++i) {
        good = read_argument(arguments[i]);
    }
    if (!good || !out || !info->is_system || info->most_cpus != 1) {
        fputs("counting: it needs good arguments, out=FILE among them, and a system with one processor\n", stderr);
        return -1;
    }
    is_arm = strcmp(info->target, "arm") == 0;
    for (size_t i = 0; i < regions.count; ++i) {
        give_segments_to(&regions.rows[i]);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
