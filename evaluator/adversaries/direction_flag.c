/* expect: state_changed; */
/* Leaves the direction flag set. */
#include "adversary.h"
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    __asm__ volatile("std");
}
