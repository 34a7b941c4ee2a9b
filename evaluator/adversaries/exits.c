/* expect: crashed; */
/* Ends the process as if all were well. */
#include "adversary.h"
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    _exit(0);
}
