/* C = A B, row-major, f32: a kernel for `tilewright judge`, rows dealt to workers.
 *
 *   cc -O3 -march=native -shared -fPIC -DM=64 -DN=64 -DK=64 -I evaluator/include -o my.so evaluator/kernels/matmul.c
 *   tilewright judge matmul:m=64,n=64,k=64,dtype=f32 --library my.so --symbol my_kernel
 */
#include "tilewright_kernel.h"

#ifndef M
#define M 64
#endif
#ifndef N
#define N 64
#endif
#ifndef K
#define K 64
#endif

void my_kernel(const tilewright_arguments *arguments) {
    const float *restrict a = arguments->operands[0];
    const float *restrict b = arguments->operands[1];
    float *restrict c = arguments->operands[2];
    uint64_t begin = M * arguments->worker / arguments->workers;
    uint64_t end = M * (arguments->worker + 1) / arguments->workers;
    for (uint64_t i = begin; i < end; i++) {
        float row[N] = {0};
        for (int p = 0; p < K; p++) {
            float factor = a[i * K + p];
            for (int j = 0; j < N; j++) row[j] += factor * b[p * N + j];
        }
        for (int j = 0; j < N; j++) c[i * N + j] = row[j];
    }
}
