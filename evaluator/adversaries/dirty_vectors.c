/* expect: any, passes; */
/* Leaves the upper halves of vector registers in use: slows down its own process only, so it may pass. */
#include "adversary.h"
#include <immintrin.h>
__attribute__((target("avx"))) void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    __asm__ volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0; vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0" ::: "xmm0");
}
