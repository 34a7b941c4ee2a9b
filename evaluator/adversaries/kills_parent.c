/* expect: forbidden_call; */
/* Kills the coordinator. */
#include "adversary.h"
#include <signal.h>
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    kill(getppid(), SIGKILL);
    right(arguments);
}
