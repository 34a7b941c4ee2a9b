/* expect: passes; */
/* Right: what rejects the others must not reject this. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) { right(arguments); }
