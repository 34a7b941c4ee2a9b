/* expect: state_changed; */
/* Leaves another x87 control word. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    unsigned short control = 0x0F7F;
    __asm__ volatile("fldcw %0" ::"m"(control));
}
