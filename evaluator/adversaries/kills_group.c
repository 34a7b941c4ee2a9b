/* expect: forbidden_call; */
/* Kills its process group. */
#include "adversary.h"
#include <signal.h>
void my_kernel(const tilewright_arguments *arguments) {
    kill(0, SIGKILL);
    right(arguments);
}
