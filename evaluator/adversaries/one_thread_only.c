/* expect: wrong_answer; threads: 2 */
/* Right for one thread only. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) { multiply(arguments, arguments->workers == 1 ? SIZE : SIZE / 2, SIZE, SIZE); }
