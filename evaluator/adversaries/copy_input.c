/* expect: wrong_answer; */
/* A copy of an input. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) { memcpy(C, A, SIZE * SIZE * sizeof(float)); }
