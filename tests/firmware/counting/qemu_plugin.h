/* The part of QEMU's plugin interface that plugin.c uses, declared by hand: Debian packages QEMU without qemu-plugin.h.
   It is version 1 of the interface, with arguments as key=value: QEMU 6.2 to 8.2.  QEMU 9.0 refuses version 1. */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))
#define UNUSED __attribute__((unused)) /* what a callback is told and does not need */

/* What QEMU looks for in a plugin. */
struct qemu_info;
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(
    uint64_t id, const struct qemu_info *info, int argument_count, char **arguments);

struct qemu_info {
    const char *target;
    int oldest_version, newest_version;
    bool is_system;
    int cpus, most_cpus; /* if it is a system */
};

struct qemu_plugin_tb;   /* a translation block, while it is translated */
struct qemu_plugin_insn; /* an instruction of it */

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

typedef void qemu_plugin_translated(uint64_t id, struct qemu_plugin_tb *block);
typedef void qemu_plugin_executing(unsigned cpu, void *user);
typedef void qemu_plugin_accessed(unsigned cpu, uint32_t access, uint64_t address, void *user);
typedef void qemu_plugin_exiting(uint64_t id, void *user);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_plugin_translated *callback);
void qemu_plugin_register_atexit_cb(uint64_t id, qemu_plugin_exiting *callback, void *user);

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);

/* Each time that a block runs, before its first instruction. */
void qemu_plugin_register_vcpu_tb_exec_cb(
    struct qemu_plugin_tb *block, qemu_plugin_executing *callback, enum qemu_plugin_cb_flags flags, void *user);

/* Before an instruction the callbacks run, in the order of their registration, and then the inline additions. */
void qemu_plugin_register_vcpu_insn_exec_cb(
    struct qemu_plugin_insn *instruction, qemu_plugin_executing *callback, enum qemu_plugin_cb_flags flags, void *user);
void qemu_plugin_register_vcpu_insn_exec_inline(
    struct qemu_plugin_insn *instruction, enum qemu_plugin_op operation, void *counter, uint64_t addend);

/* After each access that did not fault. */
void qemu_plugin_register_vcpu_mem_cb(
    struct qemu_plugin_insn *instruction, qemu_plugin_accessed *callback, enum qemu_plugin_cb_flags flags,
    enum qemu_plugin_mem_rw kinds, void *user);
unsigned qemu_plugin_mem_size_shift(uint32_t access);
bool qemu_plugin_mem_is_store(uint32_t access);

#endif
