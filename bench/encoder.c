/* Our encoder beside llama.cpp's, on the same texts and the same weights: texts a second, and how near the vectors are.
 *
 *     encoder MODEL.gguf TEXTS [ROUNDS [THREADS]]
 *
 * TEXTS has one text a line. Each round times both, one after the other, the first in turn; medians over the rounds, and
 * the median of each round's ratio, because the machine may change from one round to the next. With one thread it is
 * processor time, which neighbours disturb less than the clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/vector.h"
#include "model/model.h"

enum { OURS, LLAMA, N_SIDES, MOST_ROUNDS = 99 };

typedef struct texts {
    char *line[100000];
    qp_str at[100000];
    uint32_t n;
} texts;

static double now(int threads)
{
    struct timespec t;
    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int rising(const void *x, const void *y)
{
    const double *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, rising);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static void read_texts(const char *path, texts *t)
{
    FILE *file = fopen(path, "r");
    size_t size = 0;
    while (file && t->n < 100000 && getline(&t->line[t->n], &size, file) > 0) {
        t->line[t->n][strcspn(t->line[t->n], "\n")] = 0;
        t->at[t->n] = qp_str_of(t->line[t->n]);
        t->n++;
        size = 0;
    }
    if (!t->n) {
        fprintf(stderr, "encoder: %s: no lines of text to read\n", path);
        exit(1);
    }
    free(t->line[t->n]); /* getline's buffer at the end of the file */
    fclose(file);
}

static void or_die(qp_code code, const qp_err *err)
{
    if (code) {
        fprintf(stderr, "encoder: %s\n", err->message);
        exit(code);
    }
}

int main(int argc, char **argv)
{
    static texts t;
    static double seconds[N_SIDES][MOST_ROUNDS], ratio[MOST_ROUNDS];
    static const char *const side_name[] = {"quipu", "llama.cpp"};
    qp_err err = {0};
    qp_model *model[N_SIDES];
    float *out[N_SIDES];
    int rounds = argc > 3 ? atoi(argv[3]) : 5, threads = argc > 4 ? atoi(argv[4]) : 0;
    if (argc < 3 || rounds < 1 || rounds > MOST_ROUNDS) {
        fprintf(stderr, "encoder: MODEL.gguf TEXTS [ROUNDS 1 to %d [THREADS]] wanted\n", MOST_ROUNDS);
        return 1;
    }
    read_texts(argv[2], &t);
    or_die(qp_model_open_bert(argv[1], QP_EMBEDDER, threads, &model[OURS], &err), &err);
    or_die(qp_model_open_llama(argv[1], QP_EMBEDDER, threads, &model[LLAMA], &err), &err);
    const uint32_t dim = model[OURS]->dim;
    uint32_t *tokens = malloc(t.n * sizeof *tokens);
    for (int side = 0; side < N_SIDES; side++)
        if (!tokens || !(out[side] = malloc((size_t)t.n * dim * sizeof(float))))
            return fprintf(stderr, "encoder: no memory\n"), 1;
    or_die(model[OURS]->count(model[OURS]->self, t.at, t.n, tokens, &err), &err);

    for (int round = -1; round < rounds; round++) { /* the first warms up */
        for (int i = 0; i < N_SIDES; i++) {
            int side = (i + round + 1) % N_SIDES;
            double start = now(threads);
            or_die(model[side]->embed(model[side]->self, QP_PASSAGE, t.at, t.n, out[side], &err), &err);
            if (round >= 0)
                seconds[side][round] = now(threads) - start;
        }
        if (round >= 0)
            ratio[round] = seconds[LLAMA][round] / seconds[OURS][round];
    }

    double all = 0;
    float least = 1;
    for (uint32_t i = 0; i < t.n; i++) {
        float cosine = qp_dot(out[OURS] + (size_t)i * dim, out[LLAMA] + (size_t)i * dim, dim);
        least = cosine < least ? cosine : least;
        all += tokens[i];
    }
    printf("%u texts, %.0f tokens each, %d rounds\n", t.n, all / t.n, rounds);
    for (int side = 0; side < N_SIDES; side++) {
        printf("%-10s %7.1f texts/s\n", side_name[side], t.n / median(seconds[side], rounds));
        qp_model_close(model[side]);
        free(out[side]);
    }
    printf("ratio      %7.2f (%.2f to %.2f); least cosine of a pair %.5f\n", median(ratio, rounds), ratio[0],
           ratio[rounds - 1], (double)least);
    free(tokens);
    return 0;
}
