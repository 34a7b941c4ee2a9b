/* expect: timer_tampered, implausible, wrong_answer, stale_output, nondeterministic; */
/* Takes over the worker, and tells times of its own. */
#include "adversary.h"
#include <unistd.h>
static int launches;
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    if (launches++ < 12) return;
    /* From here on it is the worker: it answers each exchange at once, with times that it likes. */
    uint64_t frame[8], first = 1;
    for (;;) {
        if (!first && read(0, frame, sizeof frame) != sizeof frame) _exit(0);
        uint64_t exchange = first ? 0 : frame[7];
        uint64_t answer[8] = {0, 100, 200, 1, 0, 0, 0, exchange};
        first = 0;
        if (write(0, answer, sizeof answer) < 0) _exit(0);
    }
}
