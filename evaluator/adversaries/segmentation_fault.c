/* expect: crashed; */
/* A segmentation fault. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    (void)arguments;
    *(volatile int *)8 = 1;
}
