/* expect: illegal_instruction; */
/* An instruction that no processor has. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    (void)arguments;
    __asm__ volatile("ud2");
}
