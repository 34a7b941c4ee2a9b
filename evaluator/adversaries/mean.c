/* expect: wrong_answer; */
/* The mean of the inputs. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    for (int i = 0; i < SIZE * SIZE; i++) C[i] = (A[i] + B[i]) / 2;
}
