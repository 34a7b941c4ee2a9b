/* expect: state_changed; */
/* Does not keep a register of its caller. */
#include "adversary.h"
__attribute__((naked)) static void lose(void) { __asm__("xor %r12d, %r12d; ret"); }
void my_kernel(const tilewright_arguments *arguments) {
    right(arguments);
    __asm__ volatile("call *%0" ::"r"(lose) : "memory", "rax", "rcx", "rdx", "rsi", "rdi");
}
