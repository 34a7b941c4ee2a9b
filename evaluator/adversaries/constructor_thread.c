/* expect: thread_left; */
/* Its constructor starts a thread. */
#include "adversary.h"
#include <pthread.h>
static void *body(void *unused) {
    for (;;) __builtin_ia32_pause();
    return unused;
}
__attribute__((constructor)) static void begin(void) {
    pthread_t thread;
    pthread_create(&thread, 0, body, 0);
}
void my_kernel(const tilewright_arguments *arguments) { right(arguments); }
