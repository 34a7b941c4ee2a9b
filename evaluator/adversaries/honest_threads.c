/* expect: passes; threads: 2 */
/* Right, rows dealt to workers, with a barrier. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    int rows = SIZE / (int)arguments->workers, begin = rows * (int)arguments->worker;
    for (int i = begin; i < begin + rows; i++)
        for (int j = 0; j < SIZE; j++) {
            float sum = 0;
            for (int p = 0; p < SIZE; p++) sum += A[i * SIZE + p] * B[p * SIZE + j];
            C[i * SIZE + j] = sum;
        }
    tilewright_wait(arguments);
}
