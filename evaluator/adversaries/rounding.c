/* expect: state_changed; */
/* Leaves another rounding mode. */
#include "adversary.h"
#include <xmmintrin.h>
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    _MM_SET_ROUNDING_MODE(_MM_ROUND_TOWARD_ZERO);
}
