/* expect: thread_left; */
/* Starts a thread and returns early. */
#include "adversary.h"
#include <pthread.h>
static tilewright_arguments kept;
static void *body(void *unused) {
    right(&kept);
    return unused;
}
void my_kernel(const tilewright_arguments *arguments) {
    pthread_t thread;
    kept = *arguments;
    pthread_create(&thread, 0, body, 0);
}
