/* The interface of a kernel that `tilewright judge` takes: a function of a shared library for x86-64 Linux.
 *
 *   cc -O3 -march=native -shared -fPIC -I evaluator/include -o my.so my.c
 *   tilewright judge matmul:m=64,n=64,k=64,dtype=f32 --library my.so --symbol my_kernel
 *
 * The function is called once by each worker of a launch, at the same time, each with its own number and otherwise
 * equal arguments; the launch ends when all have returned. It is right with any number of workers from 1 to that of
 * --threads, and computes the same bits each time. With --threads 1 it may ignore workers and barrier.
 *
 * It starts no threads or processes, makes no system calls but for memory of its own, and keeps what the calling
 * convention says: callee-saved registers, rounding and flush-to-zero modes, a clear direction flag. Inputs cannot be
 * written to. All of this is checked; docs/judge.md says how, and under which name a kernel is rejected for it.
 */
#ifndef TILEWRIGHT_KERNEL_H
#define TILEWRIGHT_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where workers wait for each other. */
typedef struct tilewright_barrier {
    uint32_t arrived;
    uint32_t padding[15];
    uint32_t generation;
    uint32_t padding_end[15];
} __attribute__((aligned(64))) tilewright_barrier;

typedef struct tilewright_arguments {
    /* One pointer for each operand of the workload, in its order: of matmul a, b, c, and the bias where there is
     * one. Elements lie as the workload says; alignment is that of an element. */
    void *const *operands;
    /* Extents that are known at run time only; none for now, may be null. */
    const int64_t *extents;
    /* As many bytes as --workspace asks for, aligned to 4096, the same for all workers and launches, with unknown
     * content; null without it. */
    void *workspace;
    /* This worker's number, 0 to workers - 1. */
    uint64_t worker;
    uint64_t workers;
    /* Free for use in this launch; may be null when workers is 1. */
    tilewright_barrier *barrier;
} tilewright_arguments;

/* What a kernel is. */
typedef void tilewright_kernel(const tilewright_arguments *arguments);

/* Returns when all workers of the launch have called it. */
static inline void tilewright_wait(const tilewright_arguments *arguments) {
    if (arguments->workers < 2) return;
    tilewright_barrier *barrier = arguments->barrier;
    uint32_t generation = __atomic_load_n(&barrier->generation, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&barrier->arrived, 1, __ATOMIC_ACQ_REL) == arguments->workers) {
        __atomic_store_n(&barrier->arrived, 0, __ATOMIC_RELAXED);
        __atomic_add_fetch(&barrier->generation, 1, __ATOMIC_RELEASE);
    } else {
        while (__atomic_load_n(&barrier->generation, __ATOMIC_ACQUIRE) == generation) __builtin_ia32_pause();
    }
}

#ifdef __cplusplus
}
#endif

#endif
