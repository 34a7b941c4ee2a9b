/* expect: stale_output; */
/* Gives its first answer ever after. */
#include "adversary.h"
static float kept[SIZE * SIZE];
static int known;
void my_kernel(const tilewright_arguments *arguments) {
    if (!known) {
        right(arguments);
        memcpy(kept, C, sizeof kept);
        known = 1;
    }
    memcpy(C, kept, sizeof kept);
}
