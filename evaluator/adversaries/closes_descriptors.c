/* expect: state_changed, forbidden_call; */
/* Closes all descriptors. */
#include "adversary.h"
#include <unistd.h>
void my_kernel(const tilewright_arguments *arguments) {
    for (int at = 0; at < 1024; at++) close(at);
    right(arguments);
}
