/* expect: stale_output; */
/* Leaves what is there. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) { (void)arguments; }
