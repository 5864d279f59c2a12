#include "model/http.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <curl/curl.h>

#include "base/random.h"

static bool ready;

static void set_up(void)
{
    ready = curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK;
}

bool qp_http_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    return ready;
}

double qp_http_pause(int attempt, double first, double most)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    qp_random random = qp_random_seed((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)(uintptr_t)&now);
    double pause = first;
    while (--attempt > 0 && pause < most)
        pause *= 2;
    return (pause < most ? pause : most) * (.5 + .5 * qp_random_unit(&random));
}
