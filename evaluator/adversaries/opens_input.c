/* expect: input_modified, timer_tampered; */
/* Makes an input writable, and stores to it. */
#include "adversary.h"
#include <sys/mman.h>
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    mprotect((void *)((uintptr_t)A & ~4095ul), 4096, PROT_READ | PROT_WRITE);
    ((volatile float *)A)[3] = 0;
}
