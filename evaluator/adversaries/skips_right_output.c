/* expect: passes, implausible, timer_tampered, wrong_answer, stale_output, nondeterministic; */
/* Returns where the output is its last answer still: it never is in timed launches, so this is timed at its work. */
#include "adversary.h"
static float kept[SIZE * SIZE];
void my_kernel(const tilewright_arguments *arguments) {
    if (memcmp(kept, C, sizeof kept) == 0) return;
    for (int i = 0; i < 20; i++) {
        right(arguments);
        __asm__ volatile("" ::: "memory");
    }
    memcpy(kept, C, sizeof kept);
}
