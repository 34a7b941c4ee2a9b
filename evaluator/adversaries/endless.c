/* expect: timeout; */
/* An endless loop. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    (void)arguments;
    for (;;) __builtin_ia32_pause();
}
