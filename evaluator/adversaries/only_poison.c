/* expect: stale_output, wrong_answer; */
/* Computes only where the output is poison. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    if (C[0] != C[0]) right(arguments);
}
