/* expect: wrong_answer; */
/* The last column is skipped. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) { multiply(arguments, SIZE, SIZE - 1, SIZE); }
