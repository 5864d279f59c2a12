#include "eval/contender.h"

#include <stdio.h>

#include "method/method.h"
#include "op/op.h"

/* Everything one contender can be given: its own options, those of -o, and how deep it shall go. */
enum { SETTINGS = 64 };

static bool has_option(const qp_op *op, const char *key)
{
    for (const qp_opt *o = op->opts; o && o->name; o++)
        if (strcmp(o->name, key) == 0)
            return true;
    return false;
}

static bool is_method(qp_str name)
{
    for (const qp_op *const *m = qp_methods(); *m; m++)
        if (qp_str_eq(name, qp_str_of((*m)->name)))
            return true;
    return qp_str_ends(name, QP_STR(".yaml")) || qp_str_ends(name, QP_STR(".yml"));
}

/* "lego:3:width=4" is the method lego:3 with an option: what follows the first colon may be part of the name. */
static qp_str part_name(qp_str spec, qp_str *own)
{
    qp_str name = qp_str_split(spec, ':', own), more = *own, longer = qp_str_split(more, ':', &more);
    qp_str whole = qp_str_slice(spec, 0, name.n + 1 + longer.n);

    if (!own->at || memchr(longer.at, '=', longer.n) || !is_method(whole))
        return qp_str_trim(name);
    *own = more;
    return qp_str_trim(whole);
}

/* Splits off the next contender: up to a comma that a method's name follows. As long as no option was given, every
 * comma separates, so that a misspelt name is found by name. */
static qp_str next_spec(qp_str list, qp_str *rest)
{
    bool options = false;

    for (size_t i = 0; i < list.n; i++) {
        qp_str after, name;

        options |= list.at[i] == '=';
        if (list.at[i] != ',')
            continue;
        after = qp_str_slice(list, i + 1, list.n);
        name = qp_str_split(after, ',', &(qp_str){0});
        name = part_name(name, &(qp_str){0});
        if (!options || is_method(name)) {
            *rest = after;
            return qp_str_slice(list, 0, i);
        }
    }
    *rest = (qp_str){0};
    return list;
}

/* ":key=value:key=value" into settings. */
static qp_code parse_options(const qp_contender *c, qp_str text, qp_setting *set, size_t *n, qp_arena *mem, qp_err *err)
{
    while (text.at) {
        qp_str value, key = qp_str_split(qp_str_split(text, ':', &text), '=', &value);

        if (!value.at || !key.n)
            return qp_fail(err, QP_INPUT, "%s: wanted name:option=value:option=value", c->name);
        if (*n == SETTINGS)
            return qp_fail(err, QP_INPUT, "%s: more than %d options", c->name, SETTINGS);
        set[*n] = (qp_setting){qp_arena_str(mem, qp_str_trim(key)).at, qp_arena_str(mem, qp_str_trim(value)).at};
        if (!set[*n].key || !set[*n].value)
            return qp_oom(err);
        ++*n;
    }
    return QP_OK;
}

/* Options of its own come last, so that they win over -o; the depth of the run comes first, so that both win over
 * it. */
static qp_code fill(qp_contender *c, qp_str own, const qp_setting *given, size_t n_given, uint32_t depth, qp_arena *mem,
                    qp_err *err)
{
    qp_setting *set = qp_new(mem, qp_setting, SETTINGS + 1);
    size_t n = 0;
    char top[16];
    qp_code code;

    if (!set)
        return qp_oom(err);
    snprintf(top, sizeof top, "%u", depth);
    if (has_option(c->op, "top"))
        set[n++] = (qp_setting){"top", qp_arena_cstr(mem, top)};
    c->settings = set + n;
    for (size_t i = 0; i < n_given && n < SETTINGS; i++)
        if (has_option(c->op, given[i].key))
            set[n++] = given[i];
    code = parse_options(c, own, set, &n, mem, err);
    if (code != QP_OK)
        return code;
    c->n_settings = (size_t)(set + n - c->settings);
    c->opt = qp_options_new(c->op, set, n, mem, err);
    return c->opt ? QP_OK : err && err->code ? err->code : QP_INPUT;
}

static qp_code parse_one(qp_contender *c, qp_str spec, const qp_setting *given, size_t n_given, uint32_t depth,
                         qp_arena *mem, qp_err *err)
{
    qp_str own, method = part_name(spec, &own);
    qp_code code;

    c->name = qp_arena_str(mem, spec).at;
    c->method = qp_arena_str(mem, method).at;
    if (!c->name || !c->method)
        return qp_oom(err);
    if (!method.n)
        return qp_fail(err, QP_INPUT, "a method has no name in the list: wanted names set apart by commas");
    code = qp_method_find(c->method, &c->op, &c->owned, err);
    return code == QP_OK ? fill(c, own, given, n_given, depth, mem, err) : code;
}

static qp_code all_settings_used(const qp_contender *all, uint32_t n, const qp_setting *given, size_t n_given,
                                 qp_err *err)
{
    for (size_t s = 0; s < n_given; s++) {
        bool used = false;

        for (uint32_t i = 0; i < n; i++)
            used |= has_option(all[i].op, given[s].key);
        if (!used && n == 1)
            return qp_option_find(all[0].op, given[s].key, err) ? QP_BUG : QP_INPUT;
        if (!used)
            return qp_fail(err, QP_INPUT, "none of these methods has an option '%s': `quipu methods NAME` lists them",
                           given[s].key);
    }
    return QP_OK;
}

qp_code qp_contenders_parse(const char *methods, const qp_setting *given, size_t n_given, uint32_t depth,
                            qp_contender **out, uint32_t *n_out, qp_arena *mem, qp_err *err)
{
    uint32_t cap = 1, n = 0;
    qp_contender *all;
    qp_code code = QP_OK;

    for (const char *c = methods; *c; c++)
        cap += *c == ',';
    all = qp_new(mem, qp_contender, cap);
    if (!all)
        return qp_oom(err);
    for (qp_str rest = qp_str_of(methods); rest.at && code == QP_OK;) {
        qp_str spec = qp_str_trim(next_spec(rest, &rest));

        code = parse_one(&all[n], spec, given, n_given, depth, mem, err);
        for (uint32_t i = 0; i < n && code == QP_OK; i++)
            if (strcmp(all[i].name, all[n].name) == 0)
                code = qp_fail(err, QP_INPUT, "%s is in the list twice", all[i].name);
        n++;
    }
    if (code == QP_OK)
        code = all_settings_used(all, n, given, n_given, err);
    if (code != QP_OK)
        qp_contenders_free(all, n);
    *out = all;
    *n_out = n;
    return code;
}

void qp_contenders_free(qp_contender *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (all[i].owned)
            qp_pipeline_free(all[i].op);
}
