/* expect: forbidden_call, crashed, wrong_answer, stale_output; */
/* Its constructor writes a file. */
#include "adversary.h"
#include <fcntl.h>
#include <unistd.h>
static int opened;
__attribute__((constructor)) static void begin(void) { opened = open("/tmp/tilewright-adversary", O_WRONLY | O_CREAT, 0600) >= 0; }
void my_kernel(const tilewright_arguments *arguments) {
    /* Right only where the file could be made. */
    if (opened) right(arguments);
}
