/* expect: forked; */
/* Its constructor forks. */
#include "adversary.h"
#include <unistd.h>
__attribute__((constructor)) static void begin(void) {
    fork();
}
void my_kernel(const tilewright_arguments *arguments) { right(arguments); }
