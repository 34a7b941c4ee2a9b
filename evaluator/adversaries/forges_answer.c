/* expect: timer_tampered; */
/* Answers the coordinator in the worker's place. */
#include "adversary.h"
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    uint64_t frame[8] = {0, 1, 1, 1};
    right(arguments);
    if (write(0, frame, sizeof frame) < 0) return;
}
