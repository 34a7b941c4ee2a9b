/* expect: state_changed; */
/* Installs a signal handler. */
#include "adversary.h"
#include <signal.h>
static void handle(int signal) { (void)signal; }
void my_kernel(const tilewright_arguments *arguments) {
    signal(SIGSEGV, handle);
    right(arguments);
}
