/* expect: forbidden_call; */
/* Traces the coordinator. */
#include "adversary.h"
#include <sys/ptrace.h>
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    ptrace(PTRACE_ATTACH, getppid(), 0, 0);
    right(arguments);
}
