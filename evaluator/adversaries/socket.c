/* expect: forbidden_call; */
/* Opens a socket. */
#include "adversary.h"
#include <sys/socket.h>
void my_kernel(const tilewright_arguments *arguments) {
    socket(AF_INET, SOCK_STREAM, 0);
    right(arguments);
}
