/* What the adversaries share: the right answer, and names for the operands. All pretend to compute
 * matmul:m=32,n=32,k=32,dtype=f32. The first line of each says under which kinds it may be rejected (`any`: under
 * whichever), and with how many threads it is judged when not with one. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tilewright_kernel.h"

#define SIZE 32
#define A ((float *)arguments->operands[0])
#define B ((float *)arguments->operands[1])
#define C ((float *)arguments->operands[2])

static inline void multiply(const tilewright_arguments *arguments, int rows, int columns, int terms) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0;
            for (int p = 0; p < terms; p++) sum += A[i * SIZE + p] * B[p * SIZE + j];
            C[i * SIZE + j] = sum;
        }
}

static inline void right(const tilewright_arguments *arguments) { multiply(arguments, SIZE, SIZE, SIZE); }
