#include "train/adamw.h"

#include <math.h>
#include <stdlib.h>

qp_code qp_adamw_open(qp_adamw *a, size_t n, double rate, double decay, qp_err *err)
{
    *a = (qp_adamw){n, calloc(n, sizeof(float)), calloc(n, sizeof(float)), 0, rate, decay};
    return a->mean && a->square ? QP_OK : qp_oom(err);
}

void qp_adamw_close(qp_adamw *a)
{
    free(a->mean);
    free(a->square);
}

void qp_adamw_step(qp_adamw *a, float *w, const float *g)
{
    const float first = .9f, second = .999f;
    a->steps++;
    float scale = (float)(a->rate / (1 - pow(.9, (double)a->steps)));
    float length = (float)(1 / sqrt(1 - pow(.999, (double)a->steps))), keep = (float)(1 - a->rate * a->decay);
    for (size_t i = 0; i < a->n; i++) {
        a->mean[i] = first * a->mean[i] + (1 - first) * g[i];
        a->square[i] = second * a->square[i] + (1 - second) * g[i] * g[i];
        w[i] = keep * w[i] - scale * a->mean[i] / (sqrtf(a->square[i]) * length + 1e-8f);
    }
}
