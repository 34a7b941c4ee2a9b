/* expect: state_changed; */
/* Blocks all signals. */
#include "adversary.h"
#include <signal.h>
void my_kernel(const tilewright_arguments *arguments) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    right(arguments);
}
