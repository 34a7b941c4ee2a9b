/* expect: state_changed; */
/* Leaves flush to zero on. */
#include "adversary.h"
#include <xmmintrin.h>
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    _mm_setcsr(_mm_getcsr() | 0x8040);
}
