/* The steps of a pipeline's file: which operator, on which sets, with which options, when; and repeat. */
#include <stdio.h>
#include <stdlib.h>

#include "op/ops.h"
#include "op/pipeline_load.h"

/* ---- options of the pipeline, used as $name ---- */
static bool all_in(const char *choices, const char *others)
{
    bool all = true;
    for (qp_str rest = qp_str_of(choices); all && rest.at;) {
        qp_str choice = qp_str_split(rest, '|', &rest);
        bool found = false;
        for (qp_str other = qp_str_of(others); !found && other.at;)
            found = qp_str_eq(choice, qp_str_split(other, '|', &other));
        all = found;
    }
    return all;
}

/* Gives a declared option the type and range of what it stands for; of all that it stands for, if there are several. */
static qp_code give_type(qp_loader *l, const yaml_node_t *node, qp_param *param, const qp_opt *as)
{
    qp_opt *o = param->opt;
    if (!o->name) {
        size_t offset = o->offset;
        *o = *as;
        o->name = param->name;
        o->offset = offset;
        o->standard = param->standard;
        return QP_OK;
    }
    if (o->type != as->type || (o->type == QP_ENUM && !all_in(o->choices, as->choices)))
        return qp_loader_refuse(l, node, "'$%s' stands for '%s' here and for another kind of value elsewhere",
                                param->name, as->name);
    o->min = as->min > o->min ? as->min : o->min;
    o->max = as->max < o->max ? as->max : o->max;
    return QP_OK;
}

/* The option that "$name" stands for, usable as `as`; null after an error. */
static const qp_opt *option_of(qp_loader *l, const yaml_node_t *node, const char *text, const qp_opt *as)
{
    for (int i = 0; i < l->n_params; i++)
        if (strcmp(l->params[i].name, text + 1) == 0)
            return give_type(l, node, &l->params[i], as) == QP_OK ? l->params[i].opt : NULL;
    qp_loader_refuse(l, node, "'%s' is no option of this pipeline: declare it under options, with a default", text);
    return NULL;
}

/* ---- numbers and conditions ---- */
static qp_code read_number(qp_loader *l, const yaml_node_t *node, const char *text, const qp_opt *as, qp_number *out)
{
    *out = (qp_number){0};
    if (*text == '$') {
        out->option = option_of(l, node, text, as);
        return out->option ? QP_OK : l->err->code;
    }
    char *end;
    out->n = strtoll(text, &end, 10);
    if (end == text || *end || out->n < (int64_t)as->min || out->n > (int64_t)as->max)
        return qp_loader_refuse(l, node, "%s is a whole number from %g to %g or a $name, found '%s'", as->name, as->min,
                                as->max, text);
    return QP_OK;
}

static bool is_name(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n && n <= 40 && !text[n];
}

/* The set of that name, 0 for the last result; -1 after an error. */
static int set_of(qp_loader *l, const yaml_node_t *node, const char *name)
{
    for (int i = 1; i < l->n_sets; i++)
        if (strcmp(l->sets[i], name) == 0)
            return i;
    const char *near = l->n_sets > 1 ? qp_nearest(name, l->sets + 1, (size_t)l->n_sets - 1) : NULL;
    qp_loader_refuse(l, node, "no set '%s' yet%s%s%s: a step above makes it with as: %s", name, near ? " (" : "",
                     near ? near : "", near ? "?)" : "", name);
    return -1;
}

static qp_code read_condition(qp_loader *l, const yaml_node_t *node, qp_condition *out)
{
    static const qp_opt size = {.name = "a set's size", .type = QP_INT, .max = 1e9};
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    const char *text = qp_loader_text(l, node, "a condition");
    char name[64], sign[4], number[64], rest;
    if (!text)
        return l->err->code;
    if (sscanf(text, " %60[A-Za-z0-9_] %2[<>=!] %60s %c", name, sign, number, &rest) != 3)
        return qp_loader_refuse(l, node, "a condition reads 'set < 10' or 'set == $name', found '%s'", text);
    int how = 0;
    while (how < 6 && strcmp(signs[how], sign) != 0)
        how++;
    if (how == 6)
        return qp_loader_refuse(l, node, "'%s' in a condition is one of < <= > >= == !=", sign);
    out->how = QP_LT + how;
    out->set = set_of(l, node, name);
    return out->set < 0 ? l->err->code : read_number(l, node, number, &size, &out->than);
}

/* ---- a step's keys ---- */
typedef struct words { /* those that are not the operator's options */
    const yaml_node_t *op, *in, *as, *when, *repeat;
} words;

static const yaml_node_t **word_of(words *w, const char *key)
{
    static const char *const names[] = {"op", "in", "as", "when", "repeat"};
    const yaml_node_t **at[] = {&w->op, &w->in, &w->as, &w->when, &w->repeat};
    for (int i = 0; i < 5; i++)
        if (strcmp(names[i], key) == 0)
            return at[i];
    return NULL;
}

/* Refuses a key that stands before in the same table: libyaml keeps both. */
static qp_code once(qp_loader *l, const yaml_node_t *table, const yaml_node_pair_t *pair)
{
    const yaml_node_t *key = qp_loader_node(l, pair->key);
    const char *name = (const char *)key->data.scalar.value;
    for (const yaml_node_pair_t *p = table->data.mapping.pairs.start; p < pair; p++)
        if (strcmp((const char *)qp_loader_node(l, p->key)->data.scalar.value, name) == 0)
            return qp_loader_refuse(l, key, "'%s' is given twice", name);
    return QP_OK;
}

static qp_code read_words(qp_loader *l, const yaml_node_t *node, words *w)
{
    if (node->type != YAML_MAPPING_NODE)
        return qp_loader_refuse(l, node, "a step is a table, {op: search, k: 10}");
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = qp_loader_node(l, p->key);
        const char *name = qp_loader_text(l, key, "a key");
        const yaml_node_t **word = name ? word_of(w, name) : NULL;
        if (!name)
            return l->err->code;
        if (once(l, node, p) != QP_OK)
            return l->err->code;
        if (word)
            *word = qp_loader_node(l, p->value);
    }
    if (!w->op == !w->repeat)
        return qp_loader_refuse(l, node, "a step has one of op: and repeat:");
    return QP_OK;
}

static const qp_op *find(const qp_op *const *table, const char *name)
{
    for (; table && *table; table++)
        if (strcmp((*table)->name, name) == 0)
            return *table;
    return NULL;
}

static qp_code no_such_op(qp_loader *l, const yaml_node_t *node, const char *name)
{
    const char *names[128];
    size_t n = 0;
    for (const qp_op *const *op = qp_ops(); *op && n < 128; op++)
        names[n++] = (*op)->name;
    for (const qp_op *const *op = l->more; op && *op && n < 128; op++)
        names[n++] = (*op)->name;
    if (strcmp(name, qp_op_repeat.name) == 0)
        return qp_loader_refuse(l, node, "a repeat is written {repeat: {times: 3, do: [...]}}, not as an op:");
    const char *near = qp_nearest(name, names, n);
    return qp_loader_refuse(l, node, "no operator '%s' (%s%s)", name,
                            near ? near : "`quipu ops` and `quipu methods` list them", near ? "?" : "");
}

/* Another pipeline, its path taken from this one's folder. */
static qp_code load_part(qp_loader *l, const yaml_node_t *node, const char *name, const qp_op **out)
{
    const char *slash = strrchr(l->path, '/');
    int folder = *name == '/' || !slash ? 0 : (int)(slash - l->path) + 1;
    qp_str path = qp_arena_fmt(l->p->mem, "%.*s%s", folder, l->path, name);
    if (l->files + 1 >= QP_FILES_MAX)
        return qp_loader_refuse(l, node, "pipelines nested more than %d deep: does %s name itself?", QP_FILES_MAX,
                                name);
    qp_code code = qp_loader_file(path.at, l->more, l->files + 1, l->stages, out, l->err);
    if (code == QP_OK)
        l->p->parts[l->p->n_parts++] = *out;
    return code;
}

static qp_code read_op(qp_loader *l, const yaml_node_t *node, qp_stage *s)
{
    const char *name = qp_loader_text(l, node, "op");
    if (!name)
        return l->err->code;
    s->op = qp_op_find(name);
    if (!s->op)
        s->op = find(l->more, name);
    if (!s->op) {
        bool file = qp_str_ends(qp_str_of(name), QP_STR(".yaml")) || qp_str_ends(qp_str_of(name), QP_STR(".yml"));
        qp_code code = file ? load_part(l, node, name, &s->op) : no_such_op(l, node, name);
        if (code != QP_OK)
            return code;
    }
    return QP_OK;
}

/* ---- sets ---- */
static qp_code read_in(qp_loader *l, const yaml_node_t *node, qp_stage *s)
{
    bool list = node->type == YAML_SEQUENCE_NODE;
    int n = list ? (int)(node->data.sequence.items.top - node->data.sequence.items.start) : 1;
    if (n > QP_INPUTS_MAX)
        return qp_loader_refuse(l, node, "a step reads at most %d sets", QP_INPUTS_MAX);
    for (int i = 0; i < n; i++) {
        const yaml_node_t *item = list ? qp_loader_node(l, node->data.sequence.items.start[i]) : node;
        const char *name = qp_loader_text(l, item, "in");
        int set = name ? set_of(l, item, name) : -1;
        if (set < 0)
            return l->err->code;
        s->in[s->n_in++] = set;
    }
    return QP_OK;
}

/* Without in: an operator that reads a set reads the last result. */
static qp_code read_sets(qp_loader *l, const yaml_node_t *node, const words *w, bool first, qp_stage *s)
{
    qp_code code = QP_OK;
    if (w->in)
        code = read_in(l, w->in, s);
    else if (s->op->in_min > 0 && !first)
        s->n_in = 1;
    char most[16] = "";
    if (s->op->in_max > s->op->in_min)
        snprintf(most, sizeof most, " to %d", s->op->in_max);
    if (code == QP_OK && (s->n_in < s->op->in_min || s->n_in > s->op->in_max))
        code = qp_loader_refuse(l, node, "'%s' reads %d%s sets, %d given", s->op->name, s->op->in_min, most, s->n_in);
    const char *name = code == QP_OK && w->as ? qp_loader_text(l, w->as, "as") : NULL;
    if (!name)
        return l->err->code;
    if (!is_name(name))
        return qp_loader_refuse(l, w->as, "a set's name is letters, digits and _, found '%s'", name);
    for (s->as = 1; s->as < l->n_sets && strcmp(l->sets[s->as], name) != 0; s->as++)
        ;
    if (s->as == QP_SETS_MAX)
        return qp_loader_refuse(l, w->as, "more than %d sets", QP_SETS_MAX - 1);
    l->sets[s->as] = name;
    l->n_sets = s->as == l->n_sets ? l->n_sets + 1 : l->n_sets;
    return QP_OK;
}

/* ---- options of a step ---- */
/* A list of words is one text, separated by commas: edges: [cites, ref]. */
static const char *option_text(qp_loader *l, const yaml_node_t *node, const char *name)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return qp_loader_text(l, node, name);
    qp_buf all = {0};
    for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++) {
        const char *text = qp_loader_text(l, qp_loader_node(l, *i), name);
        if (!text || all.n > QP_TEXT_MAX) {
            qp_buf_free(&all);
            if (text)
                qp_loader_refuse(l, node, "%s is longer than %d bytes", name, QP_TEXT_MAX);
            return NULL;
        }
        qp_buf_fmt(&all, "%s%s", all.n ? "," : "", text);
    }
    char *text = all.oom ? NULL : qp_arena_cstr(l->p->mem, all.at ? all.at : "");
    qp_buf_free(&all);
    if (!text)
        qp_oom(l->err);
    return text;
}

static qp_code read_option(qp_loader *l, const yaml_node_t *key, const yaml_node_t *value, qp_stage *s)
{
    qp_err inner = {0};
    const char *name = (const char *)key->data.scalar.value;
    const qp_opt *o = qp_option_find(s->op, name, &inner);
    if (!o)
        return qp_loader_refuse(l, key, "%s", inner.message);
    const char *text = option_text(l, value, name);
    if (!text)
        return l->err->code;
    if (*text == '$') {
        const qp_opt *from = option_of(l, value, text, o);
        if (from)
            s->binding[s->n_bindings++] = (qp_binding){o, from};
        return l->err->code;
    }
    if (qp_option_set(s->op, o, text, s->opt, l->p->mem, &inner) != QP_OK)
        return qp_loader_refuse(l, value, "%s", inner.message);
    return QP_OK;
}

static qp_code read_options(qp_loader *l, const yaml_node_t *node, qp_stage *s)
{
    size_t most = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    words w = {0};
    s->opt = qp_options_new(s->op, NULL, 0, l->p->mem, l->err);
    s->binding = qp_new(l->p->mem, qp_binding, most);
    if (!s->opt || !s->binding)
        return qp_oom(l->err);
    qp_code code = QP_OK;
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top && code == QP_OK; p++) {
        const yaml_node_t *key = qp_loader_node(l, p->key);
        if (!word_of(&w, (const char *)key->data.scalar.value))
            code = read_option(l, key, qp_loader_node(l, p->value), s);
    }
    return code;
}

/* ---- repeat ---- */
static qp_code read_repeat_key(qp_loader *l, const yaml_node_t *key, const yaml_node_t *value, int depth, qp_stage *s)
{
    const char *name = qp_loader_text(l, key, "a key"), *text;
    qp_err inner = {0};
    const qp_opt *o = name ? qp_option_find(&qp_op_repeat, name, &inner) : NULL;
    if (!o)
        return name ? qp_loader_refuse(l, key, "%s", inner.message) : l->err->code;
    switch (*name) {
    case 'w': return read_condition(l, value, &s->go_on);
    case 'd': return qp_loader_stages(l, value, depth + 1, &s->body);
    case 't':
        text = qp_loader_text(l, value, "times");
        return text ? read_number(l, value, text, o, &s->times) : l->err->code;
    default: return QP_OK; /* until: read when the body has been, which may make its set */
    }
}

static qp_code read_repeat(qp_loader *l, const yaml_node_t *node, int depth, qp_stage *s)
{
    if (depth == QP_REPEATS_MAX)
        return qp_loader_refuse(l, node, "repeats nested more than %d deep", QP_REPEATS_MAX);
    if (node->type != YAML_MAPPING_NODE)
        return qp_loader_refuse(l, node, "repeat is a table with do: and one of while:, until:, times:");
    qp_code code = QP_OK;
    const yaml_node_t *until = NULL;
    s->times.n = QP_ROUNDS_MAX;
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top && code == QP_OK; p++) {
        const yaml_node_t *key = qp_loader_node(l, p->key), *value = qp_loader_node(l, p->value);
        code = read_repeat_key(l, key, value, depth, s);
        if (code == QP_OK)
            code = once(l, node, p);
        if (code == QP_OK && strcmp((const char *)key->data.scalar.value, "until") == 0)
            until = value;
    }
    if (code == QP_OK && until)
        code = read_condition(l, until, &s->until);
    if (code == QP_OK && !s->body.n)
        code = qp_loader_refuse(l, node, "repeat has nothing to do:");
    bool ends = s->go_on.how != QP_ALWAYS || s->until.how != QP_ALWAYS || s->times.option || s->times.n < QP_ROUNDS_MAX;
    if (code == QP_OK && !ends)
        code = qp_loader_refuse(l, node, "repeat without end: give it while:, until: or times:");
    return code;
}

/* ---- steps ---- */
static qp_code read_step(qp_loader *l, const yaml_node_t *node, int depth, bool first, qp_stage *s)
{
    words w = {0};
    qp_code code = read_words(l, node, &w);
    if (code == QP_OK && w.when)
        code = read_condition(l, w.when, &s->when);
    if (code != QP_OK)
        return code;
    if (w.repeat)
        return w.in || w.as ? qp_loader_refuse(l, node, "in: and as: belong to the steps inside a repeat")
                            : read_repeat(l, w.repeat, depth, s);
    code = read_op(l, w.op, s);
    if (code == QP_OK)
        code = read_options(l, node, s);
    if (code != QP_OK)
        return code;
    l->p->op.needs |= qp_op_needs(s->op, s->opt);
    return read_sets(l, node, &w, first, s);
}

qp_code qp_loader_stages(qp_loader *l, const yaml_node_t *node, int depth, qp_stages *out)
{
    if (node->type != YAML_SEQUENCE_NODE || node->data.sequence.items.start == node->data.sequence.items.top)
        return qp_loader_refuse(l, node, "steps are a list: one or more lines that begin with -");
    size_t n = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (n > QP_STAGES_MAX - *l->stages)
        return qp_loader_refuse(l, node, "more than %d steps, those of other files counted", QP_STAGES_MAX);
    *l->stages += (uint32_t)n;
    *out = (qp_stages){qp_new(l->p->mem, qp_stage, n), (uint32_t)n};
    qp_code code = out->at ? QP_OK : qp_oom(l->err);
    for (size_t i = 0; i < n && code == QP_OK; i++) {
        const yaml_node_t *step = qp_loader_node(l, node->data.sequence.items.start[i]);
        code = read_step(l, step, depth, depth == 0 && i == 0, &out->at[i]);
    }
    return code;
}
