/* expect: out_of_bounds; */
/* Loads behind an input. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    volatile float seen = ((volatile float *)A)[SIZE * SIZE];
    (void)seen;
}
