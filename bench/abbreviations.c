/* The abbreviations that texts explain, as quipu finds them: short form, tab, long form, a line each.
 *
 *     abbreviations FILE...
 */
#include <stdio.h>

#include "base/file.h"
#include "text/abbreviation.h"

static bool tell(void *ctx, qp_str brief, qp_str full)
{
    (void)ctx;
    printf("%.*s\t%.*s\n", (int)brief.n, brief.at, (int)full.n, full.at);
    return true;
}

int main(int argc, char **argv)
{
    qp_err err = {0};
    for (int i = 1; i < argc; i++) {
        qp_buf text = {0};
        if (qp_file_read(argv[i], 0, &text, &err)) {
            fprintf(stderr, "abbreviations: %s\n", err.message);
            return 2;
        }
        qp_abbreviations(qp_buf_view(&text), tell, NULL);
        qp_buf_free(&text);
    }
    return 0;
}
