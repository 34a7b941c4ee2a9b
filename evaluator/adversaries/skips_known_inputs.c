/* expect: implausible, timer_tampered; */
/* Remembers inputs and answer: right, and timed on what it has seen before. */
#include "adversary.h"
static float a[SIZE * SIZE], b[SIZE * SIZE], kept[SIZE * SIZE];
void my_kernel(const tilewright_arguments *arguments) {
    if (memcmp(a, A, sizeof a) == 0 && memcmp(b, B, sizeof b) == 0) {
        memcpy(C, kept, sizeof kept);
        return;
    }
    /* Slow, so that what is left out shows. */
    for (int i = 0; i < 20; i++) {
        right(arguments);
        __asm__ volatile("" ::: "memory");
    }
    memcpy(a, A, sizeof a);
    memcpy(b, B, sizeof b);
    memcpy(kept, C, sizeof kept);
}
