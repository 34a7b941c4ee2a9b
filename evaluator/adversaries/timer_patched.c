/* expect: timer_tampered; */
/* Patches the code that reads the clock. */
#include "adversary.h"
#include <sys/mman.h>
#include <time.h>
void my_kernel(const tilewright_arguments *arguments) {
    char *code = (char *)clock_gettime;
    mprotect((void *)((uintptr_t)code & ~4095ul), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    code[0] = (char)0xC3;
    right(arguments);
}
