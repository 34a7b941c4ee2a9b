/* expect: out_of_memory; */
/* Allocates without end. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    (void)arguments;
    for (;;) {
        char *memory = malloc(1 << 20);
        for (int at = 0; at < 1 << 20; at += 4096) ((volatile char *)memory)[at] = 1;
    }
}
