/* expect: nondeterministic, wrong_answer; */
/* Cuts the reduction short once it is timed. */
#include "adversary.h"
static int launches;
void my_kernel(const tilewright_arguments *arguments) { multiply(arguments, SIZE, SIZE, launches++ < 6 ? SIZE : SIZE / 2); }
