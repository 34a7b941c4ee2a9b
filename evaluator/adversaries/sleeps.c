/* expect: timeout; */
/* Sleeps until it is killed. */
#include "adversary.h"
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    (void)arguments;
    for (;;) pause();
}
