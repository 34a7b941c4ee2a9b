/* expect: forbidden_call; */
/* Writes to standard output. */
#include "adversary.h"
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    if (write(1, "{}", 2) < 0) return;
}
