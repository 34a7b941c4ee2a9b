/* expect: wrong_answer; */
/* Half of the reduction. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) { multiply(arguments, SIZE, SIZE, SIZE / 2); }
