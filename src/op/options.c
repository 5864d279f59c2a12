/* Option tables to structs and back. One table per operator serves pipelines, command line, HTTP, Python and manual. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "op/op.h"

/* Numbers are read with a point, whatever locale the program that uses us has set. */
static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static bool read_number(const char *text, double *out)
{
    pthread_once(&c_locale_once, make_c_locale);
    char *end;
    *out = c_locale ? strtod_l(text, &end, c_locale) : strtod(text, &end);
    return end != text && *end == '\0' && !isnan(*out);
}

static bool read_bool(const char *text, bool *out)
{
    static const char *const yes[] = {"1", "true", "yes", "on"}, *const no[] = {"0", "false", "no", "off"};
    for (int i = 0; i < 4; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *out = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static bool is_choice(const char *choices, const char *value)
{
    for (qp_str rest = qp_str_of(choices); rest.at;) {
        if (qp_str_eq(qp_str_split(rest, '|', &rest), qp_str_of(value)))
            return true;
    }
    return false;
}

static qp_code set_number(const qp_op *op, const qp_opt *o, const char *value, char *at, qp_err *err)
{
    bool whole = o->type == QP_INT;
    double x;
    if (!read_number(value, &x) || (whole && x != floor(x)))
        return qp_fail(err, QP_INPUT, "'%s': %s wants a %s, found '%s'", op->name, o->name,
                       whole ? "whole number" : "number", value);
    if (x < o->min || x > o->max)
        return qp_fail(err, QP_INPUT, "'%s': %s goes from %g to %g, found '%s'", op->name, o->name, o->min, o->max,
                       value);
    if (whole)
        *(int64_t *)at = (int64_t)x;
    else
        *(double *)at = x;
    return QP_OK;
}

qp_code qp_option_set(const qp_op *op, const qp_opt *o, const char *value, void *opt, qp_arena *mem, qp_err *err)
{
    char *at = (char *)opt + o->offset;
    if (o->type == QP_INT || o->type == QP_FLOAT)
        return set_number(op, o, value, at, err);
    if (o->type == QP_BOOL) {
        if (!read_bool(value, (bool *)at))
            return qp_fail(err, QP_INPUT, "'%s': %s wants true or false, found '%s'", op->name, o->name, value);
        return QP_OK;
    }
    if (o->type == QP_ENUM && !is_choice(o->choices, value))
        return qp_fail(err, QP_INPUT, "'%s': %s is one of %s, found '%s'", op->name, o->name, o->choices, value);
    char *copy = qp_arena_cstr(mem, value);
    if (!copy)
        return qp_oom(err);
    *(const char **)at = copy;
    return QP_OK;
}

const qp_opt *qp_option_find(const qp_op *op, const char *name, qp_err *err)
{
    const char *names[64];
    size_t n = 0;
    for (const qp_opt *o = op->opts; o && o->name; o++) {
        if (strcmp(o->name, name) == 0)
            return o;
        if (n < sizeof names / sizeof *names)
            names[n++] = o->name;
    }
    const char *near = qp_nearest(name, names, n);
    if (near)
        qp_fail(err, QP_INPUT, "'%s' has no option '%s' (%s?)", op->name, name, near);
    else
        qp_fail(err, QP_INPUT, "'%s' has no option '%s': `quipu help %s` lists them", op->name, name, op->name);
    return NULL;
}

qp_code qp_options_fill(const qp_op *op, const qp_setting *set, size_t n, void *opt, qp_arena *mem, qp_err *err)
{
    if (op->opt_size)
        memset(opt, 0, op->opt_size);
    qp_code code = QP_OK;
    for (const qp_opt *o = op->opts; o && o->name && code == QP_OK; o++)
        if (o->standard)
            code = qp_option_set(op, o, o->standard, opt, mem, err);
    for (size_t i = 0; i < n && code == QP_OK; i++) {
        const qp_opt *o = qp_option_find(op, set[i].key, err);
        code = o ? qp_option_set(op, o, set[i].value, opt, mem, err) : QP_INPUT;
    }
    return code;
}

void *qp_options_new(const qp_op *op, const qp_setting *set, size_t n, qp_arena *mem, qp_err *err)
{
    void *opt = qp_arena_alloc(mem, op->opt_size);
    if (!opt) {
        qp_oom(err);
        return NULL;
    }
    return qp_options_fill(op, set, n, opt, mem, err) == QP_OK ? opt : NULL;
}

/* One value as text; empty for what is not set. */
static void print_value(const qp_opt *o, const void *opt, char *out, size_t size)
{
    const char *at = (const char *)opt + o->offset;
    const char *text = "";
    *out = '\0';
    if (o->type == QP_INT)
        snprintf(out, size, "%lld", (long long)*(const int64_t *)at);
    else if (o->type == QP_FLOAT)
        snprintf(out, size, "%g", *(const double *)at);
    else if (o->type == QP_BOOL)
        text = *(const bool *)at ? "true" : "false";
    else if (*(const char *const *)at)
        text = *(const char *const *)at;
    if (*text)
        snprintf(out, size, "%s", text);
}

void qp_options_print(const qp_op *op, const void *opt, char *out, size_t size)
{
    size_t n = 0;
    out[0] = '\0';
    for (const qp_opt *o = op->opts; opt && o && o->name && n < size; o++) {
        char value[80];
        print_value(o, opt, value, sizeof value);
        if (*value)
            n += (size_t)snprintf(out + n, size - n, "%s%s=%s", n ? " " : "", o->name, value);
    }
}
