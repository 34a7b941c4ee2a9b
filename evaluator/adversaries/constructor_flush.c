/* expect: state_changed; */
/* Its constructor turns on flush to zero, as -ffast-math does. */
#include "adversary.h"
#include <xmmintrin.h>
__attribute__((constructor)) static void begin(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }
void my_kernel(const tilewright_arguments *arguments) { right(arguments); }
