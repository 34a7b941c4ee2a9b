/* expect: nondeterministic, wrong_answer; */
/* Rounds at random. */
#include "adversary.h"
#include <x86intrin.h>
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    /* Within what rounding may do, and another one each time. */
    C[5] *= 1 + (float)(__rdtsc() & 1023) * 6e-8f * 0.01f;
    ((uint32_t *)C)[7] ^= __rdtsc() >> 5 & 1;
}
