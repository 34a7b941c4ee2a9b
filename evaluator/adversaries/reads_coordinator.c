/* expect: forbidden_call; */
/* Reads the coordinator's memory. */
#include "adversary.h"
#include <sys/uio.h>
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    struct iovec here = {C, SIZE * SIZE * 4}, there = {(void *)0x10000, SIZE * SIZE * 4};
    process_vm_readv(getppid(), &here, 1, &there, 1, 0);
    right(arguments);
}
