/* expect: state_changed; */
/* Raises its priority. */
#include "adversary.h"
#include <sys/resource.h>
void my_kernel(const tilewright_arguments *arguments) {
    setpriority(PRIO_PROCESS, 0, -20);
    right(arguments);
}
