#include "eval/plot.h"

#include <math.h>

/* The drawing in user units; the plot proper is inside the margins, names of series stand right of it. */
enum { WIDTH = 780, HEIGHT = 360, LEFT = 56, RIGHT = 250, TOP = 34, BOTTOM = 48, COLOURS = 8, LINE = 16 };

typedef struct axis {
    double low, high;
    bool log;
} axis;

void qp_html_text(qp_buf *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<': qp_buf_text(out, "&lt;"); break;
        case '>': qp_buf_text(out, "&gt;"); break;
        case '&': qp_buf_text(out, "&amp;"); break;
        case '"': qp_buf_text(out, "&quot;"); break;
        default: qp_buf_char(out, *text);
        }
    }
}

static void widen(axis *a, double x)
{
    if (!isfinite(x) || (a->log && x <= 0))
        return;
    a->low = fmin(a->low, x);
    a->high = fmax(a->high, x);
}

/* 1, 2 or 5 times a power of ten, so that about five steps fill the span. */
static double nice_step(double span)
{
    double power = pow(10, floor(log10(span / 5))), part = span / 5 / power;

    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/* The span of all points with a little room; to whole steps, or on a log axis to a fifth beyond. */
static void settle(axis *a)
{
    if (!(a->low <= a->high))
        a->low = a->log ? 1 : 0, a->high = a->log ? 10 : 1;
    if (a->log) {
        a->low /= 1.2;
        a->high *= 1.2;
        return;
    }
    if (a->high - a->low < 1e-9)
        a->high = a->low + (fabs(a->low) > 0 ? fabs(a->low) : 1) * .1;
    double step = nice_step(a->high - a->low);
    a->low = floor(a->low / step + 1e-9) * step;
    a->high = ceil(a->high / step - 1e-9) * step;
}

static double place(const axis *a, double x, double from, double to)
{
    double share = a->log ? log(x / a->low) / log(a->high / a->low) : (x - a->low) / (a->high - a->low);

    return from + share * (to - from);
}

static double place_x(const axis *a, double x)
{
    return place(a, x, LEFT, WIDTH - RIGHT);
}

static double place_y(const axis *a, double y)
{
    return place(a, y, HEIGHT - BOTTOM, TOP);
}

static void tick(qp_buf *out, const axis *a, double at, bool is_x)
{
    double p = is_x ? place_x(a, at) : place_y(a, at);

    if (is_x)
        qp_buf_fmt(out,
                   "<line class=grid x1=%.1f x2=%.1f y1=%d y2=%d /><text x=%.1f y=%d text-anchor=middle>%g</text>\n", p,
                   p, TOP, HEIGHT - BOTTOM, p, HEIGHT - BOTTOM + LINE, at);
    else
        qp_buf_fmt(out, "<line class=grid x1=%d x2=%d y1=%.1f y2=%.1f /><text x=%d y=%.1f text-anchor=end>%g</text>\n",
                   LEFT, WIDTH - RIGHT, p, p, LEFT - 6, p + 4, at);
}

static void ticks(qp_buf *out, const axis *a, bool is_x)
{
    if (!a->log) {
        double step = nice_step(a->high - a->low);

        for (int i = 0; a->low + i * step <= a->high + step * 1e-6; i++)
            tick(out, a, fabs(a->low + i * step) < step * 1e-6 ? 0 : a->low + i * step, is_x);
        return;
    }
    for (int power = (int)floor(log10(a->low)); pow(10, power) <= a->high; power++)
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3)
            if (pow(10, power) * digit >= a->low && pow(10, power) * digit <= a->high)
                tick(out, a, pow(10, power) * digit, is_x);
}

static void frame(qp_buf *out, const qp_plot *p)
{
    qp_buf_fmt(out, "<svg viewBox=\"0 0 %d %d\" role=img aria-label=\"", WIDTH, HEIGHT);
    qp_html_text(out, p->title);
    qp_buf_fmt(out, "\"><text class=title x=%d y=18>", LEFT);
    qp_html_text(out, p->title);
    qp_buf_fmt(out, "</text><text x=%d y=%d text-anchor=middle>", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10);
    qp_html_text(out, p->x_label);
    qp_buf_fmt(out, "</text><text transform=\"translate(14 %d) rotate(-90)\" text-anchor=middle>",
               (TOP + HEIGHT - BOTTOM) / 2);
    qp_html_text(out, p->y_label);
    qp_buf_text(out, "</text>\n");
}

static void draw_series(qp_buf *out, const qp_series *s, uint32_t number, const axis *x, const axis *y)
{
    uint32_t colour = number % COLOURS;
    const char *dash = number < COLOURS ? "" : " stroke-dasharray=\"5 3\"";

    if (s->n > 1) {
        qp_buf_fmt(out, "<polyline class=c%u%s points=\"", colour, dash);
        for (uint32_t i = 0; i < s->n; i++)
            qp_buf_fmt(out, "%.1f,%.1f ", place_x(x, s->x[i]), place_y(y, s->y[i]));
        qp_buf_text(out, "\"><title>");
        qp_html_text(out, s->name);
        qp_buf_text(out, "</title></polyline>\n");
    }
    for (uint32_t i = 0; i < s->n && (s->n == 1 || s->low); i++) {
        double px = place_x(x, s->x[i]);

        if (s->low)
            qp_buf_fmt(out, "<line class=c%u x1=%.1f x2=%.1f y1=%.1f y2=%.1f />", colour, px, px, place_y(y, s->low[i]),
                       place_y(y, s->high[i]));
        qp_buf_fmt(out, "<circle class=\"c%u dot\" cx=%.1f cy=%.1f r=4><title>", colour, px, place_y(y, s->y[i]));
        qp_html_text(out, s->name);
        qp_buf_fmt(out, ": %.4f at %.4g</title></circle>\n", s->y[i], s->x[i]);
    }
}

/* The names beside the plot, in the order of where their series end, each at least a line below the one above. */
static void draw_names(qp_buf *out, const qp_plot *p, const axis *y)
{
    double last = TOP - LINE / 2.0;
    bool drawn[64] = {false};
    uint32_t n = p->n < 64 ? p->n : 64;

    for (uint32_t turn = 0; turn < n; turn++) {
        uint32_t best = UINT32_MAX;

        for (uint32_t i = 0; i < n; i++)
            if (!drawn[i] && p->series[i].n &&
                (best == UINT32_MAX || p->series[i].y[p->series[i].n - 1] > p->series[best].y[p->series[best].n - 1]))
                best = i;
        if (best == UINT32_MAX)
            return;
        drawn[best] = true;
        double at = place_y(y, p->series[best].y[p->series[best].n - 1]),
               room = HEIGHT - BOTTOM - LINE * (n - turn - 1.0);

        at = fmax(last + LINE, fmin(at, room));
        last = at;
        qp_buf_fmt(out, "<text class=\"c%u name\" x=%d y=%.1f>", best % COLOURS, WIDTH - RIGHT + 8, at + 4);
        qp_html_text(out, p->series[best].name);
        qp_buf_text(out, "</text>\n");
    }
}

void qp_plot_draw(qp_buf *out, const qp_plot *p)
{
    axis x = {INFINITY, -INFINITY, p->log_x}, y = {INFINITY, -INFINITY, false};

    for (uint32_t s = 0; s < p->n; s++)
        for (uint32_t i = 0; i < p->series[s].n; i++) {
            widen(&x, p->series[s].x[i]);
            widen(&y, p->series[s].y[i]);
            if (p->series[s].low) {
                widen(&y, p->series[s].low[i]);
                widen(&y, p->series[s].high[i]);
            }
        }
    settle(&x);
    settle(&y);
    frame(out, p);
    ticks(out, &x, true);
    ticks(out, &y, false);
    for (uint32_t s = 0; s < p->n; s++)
        draw_series(out, &p->series[s], s, &x, &y);
    draw_names(out, p, &y);
    qp_buf_text(out, "</svg>\n");
}
