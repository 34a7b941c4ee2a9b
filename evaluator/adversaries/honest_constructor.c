/* expect: passes; */
/* Right, with a constructor that sets up memory. */
#include "adversary.h"
static float *table;
__attribute__((constructor)) static void begin(void) {
    table = malloc(1 << 20);
    for (int i = 0; i < 1 << 18; i++) table[i] = 1;
}
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    C[0] *= table[7];
}
