/* expect: input_modified; */
/* Stores to an input. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    ((volatile float *)A)[3] = 0;
}
