/* expect: wrong_answer; */
/* Zeros. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) { memset(C, 0, SIZE * SIZE * sizeof(float)); }
