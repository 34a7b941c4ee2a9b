/* expect: crashed, forbidden_call; */
/* Aborts. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    (void)arguments;
    abort();
}
