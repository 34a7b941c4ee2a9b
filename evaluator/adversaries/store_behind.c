/* expect: out_of_bounds; */
/* Stores one vector behind the output. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    for (int i = 0; i < 8; i++) ((volatile float *)C)[SIZE * SIZE + i] = 1;
}
