/* expect: wrong_answer, stale_output; threads: 2 */
/* Right for two threads only. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    if (arguments->workers == 2) right(arguments);
}
