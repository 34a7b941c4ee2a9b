/* expect: forbidden_call; */
/* Writes an input through /proc/self/mem. */
#include "adversary.h"
#include <fcntl.h>
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    int memory = open("/proc/self/mem", O_RDWR);
    pwrite(memory, "", 1, (off_t)(uintptr_t)A);
    right(arguments);
}
