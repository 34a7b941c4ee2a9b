/* expect: forked; */
/* Forks without end. */
#include "adversary.h"
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    (void)arguments;
    for (;;) fork();
}
