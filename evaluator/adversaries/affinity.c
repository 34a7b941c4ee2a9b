/* expect: state_changed; */
/* Changes its affinity. */
#include "adversary.h"
#include <sched.h>
void my_kernel(const tilewright_arguments *arguments) {
    cpu_set_t all;
    memset(&all, 0xFF, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    right(arguments);
}
