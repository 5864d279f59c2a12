/* Line and point plots as inline SVG: no scripts, no fonts, colours from the page's own style sheet (c0..c7). */
#ifndef QP_EVAL_PLOT_H
#define QP_EVAL_PLOT_H

#include "base/str.h"

typedef struct qp_series {
    const char *name;
    const double *x, *y;
    const double *low, *high; /* bars up and down, or null */
    uint32_t n;               /* one point is drawn as a dot, more as a line */
} qp_series;

typedef struct qp_plot {
    const char *title, *x_label, *y_label;
    bool log_x; /* x above 0 then */
    const qp_series *series;
    uint32_t n;
} qp_plot;

/* Appended. */
void qp_plot_draw(qp_buf *, const qp_plot *);
/* Text with <, >, & and quotes as entities. */
void qp_html_text(qp_buf *, const char *);

#endif
