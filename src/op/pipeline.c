/* A user's pipeline: a YAML file to an operator. The file is foreign input: its size, nesting and number of steps are
 * bounded, aliases and files that name themselves included; every mistake is told with its line.
 */
#include "op/pipeline.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/file.h"
#include "op/pipeline_load.h"

enum { FILE_MAX_BYTES = 64 << 10 };

qp_code qp_loader_refuse(qp_loader *l, const yaml_node_t *node, const char *format, ...)
{
    char message[800];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return qp_fail(l->err, QP_INPUT, "%s:%zu: %s", l->path, node->start_mark.line + 1, message);
}

yaml_node_t *qp_loader_node(qp_loader *l, int index)
{
    return yaml_document_get_node(l->doc, index);
}

const char *qp_loader_text(qp_loader *l, const yaml_node_t *node, const char *what)
{
    if (node->type != YAML_SCALAR_NODE) {
        qp_loader_refuse(l, node, "%s is one word or number, not a list or a table", what);
        return NULL;
    }
    const char *text = (const char *)node->data.scalar.value;
    if (node->data.scalar.length > QP_TEXT_MAX || strlen(text) != node->data.scalar.length) {
        qp_loader_refuse(l, node, "%s is longer than %d bytes, or holds a NUL", what, QP_TEXT_MAX);
        return NULL;
    }
    const char *copy = qp_arena_cstr(l->p->mem, text);
    if (!copy)
        qp_oom(l->err);
    return copy;
}

/* ---- options: what the file declares; pipeline_step.c gives each its type from the option it is used for ---- */
enum { BUILT_IN = 2 }; /* edges and direction are there undeclared; a file may give them other defaults */

static qp_code declare(qp_loader *l, const yaml_node_t *key, yaml_node_t *value)
{
    const char *name = qp_loader_text(l, key, "an option's name");
    const char *standard = name ? qp_loader_text(l, value, name) : NULL;
    if (!standard)
        return l->err->code;
    int i = 0;
    while (i < l->n_params && strcmp(l->params[i].name, name) != 0)
        i++;
    if (i < l->n_params && l->params[i].node)
        return qp_loader_refuse(l, key, "option '%s' is declared twice", name);
    if (i == QP_PARAMS_MAX)
        return qp_loader_refuse(l, key, "more than %d options", QP_PARAMS_MAX);
    l->params[i] = (qp_param){name, standard, value, NULL};
    if (i == l->n_params)
        l->n_params++;
    return QP_OK;
}

static qp_code declare_all(qp_loader *l, const yaml_node_t *node)
{
    if (node->type != YAML_MAPPING_NODE)
        return qp_loader_refuse(l, node, "options is a table, {alpha: 0.2, k: 10}");
    qp_code code = QP_OK;
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top && code == QP_OK; p++)
        code = declare(l, qp_loader_node(l, p->key), qp_loader_node(l, p->value));
    return code;
}

/* The built-in options, and a nameless place for each other. A value takes eight bytes, whatever its type. */
static qp_code make_table(qp_loader *l)
{
    qp_opt *opts = qp_new(l->p->mem, qp_opt, (size_t)l->n_params + 1);
    if (!opts)
        return qp_oom(l->err);
    opts[0] = (qp_opt){.name = "edges", .help = "edge types walked, as cites,ref; * = all", .type = QP_TEXT};
    opts[1] =
        (qp_opt){.name = "direction", .help = "which way edges are walked", .type = QP_ENUM, .choices = "both|out|in"};
    for (int i = 0; i < l->n_params; i++) {
        l->params[i].opt = &opts[i];
        opts[i].standard = l->params[i].standard;
        opts[i].offset = (size_t)i * sizeof(int64_t);
    }
    l->p->op.opts = opts;
    l->p->op.opt_size = (size_t)l->n_params * sizeof(int64_t);
    return QP_OK;
}

/* Every option is used, and its default is one that its uses allow. */
static qp_code check_options(qp_loader *l)
{
    void *opt = qp_arena_alloc(l->p->mem, l->p->op.opt_size);
    if (!opt)
        return qp_oom(l->err);
    for (int i = 0; i < l->n_params; i++) {
        const qp_param *param = &l->params[i];
        qp_err inner = {0};
        if (!param->node)
            continue;
        if (!param->opt->name)
            return qp_loader_refuse(l, param->node, "option '%s' is used by no step: write $%s where it belongs",
                                    param->name, param->name);
        if (qp_option_set(&l->p->op, param->opt, param->standard, opt, l->p->mem, &inner) != QP_OK)
            return qp_loader_refuse(l, param->node, "%s", inner.message);
    }
    return QP_OK;
}

/* ---- the file ---- */
static qp_code read_inputs(qp_loader *l, const yaml_node_t *node)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return qp_loader_refuse(l, node, "inputs is a list of names, [found]");
    for (yaml_node_item_t *i = node->data.sequence.items.start; i < node->data.sequence.items.top; i++) {
        const yaml_node_t *item = qp_loader_node(l, *i);
        const char *name = qp_loader_text(l, item, "an input's name");
        if (!name)
            return l->err->code;
        if (l->p->n_inputs == QP_INPUTS_MAX)
            return qp_loader_refuse(l, item, "more than %d inputs", QP_INPUTS_MAX);
        l->sets[l->n_sets++] = name;
        l->p->n_inputs++;
    }
    l->p->op.in_min = l->p->op.in_max = l->p->n_inputs;
    return QP_OK;
}

static const char *const keys[] = {"name", "help", "source", "inputs", "options", "steps"};
enum { NAME, HELP, SOURCE, INPUTS, OPTIONS, STEPS, KEYS };

/* The values of the file's table by key; null: not there. */
static qp_code read_keys(qp_loader *l, const yaml_node_t *root, yaml_node_t *value[KEYS])
{
    if (root->type != YAML_MAPPING_NODE)
        return qp_loader_refuse(l, root, "a pipeline is a table with steps: (docs/methods.md shows one)");
    for (yaml_node_pair_t *p = root->data.mapping.pairs.start; p < root->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = qp_loader_node(l, p->key);
        const char *name = qp_loader_text(l, key, "a key");
        if (!name)
            return l->err->code;
        int i = 0;
        while (i < KEYS && strcmp(keys[i], name) != 0)
            i++;
        if (i == KEYS) {
            const char *near = qp_nearest(name, keys, KEYS);
            return qp_loader_refuse(l, key, "a pipeline has no '%s' (%s?)", name,
                                    near ? near : "name, help, source, inputs, options or steps");
        }
        if (value[i])
            return qp_loader_refuse(l, key, "'%s' is given twice", name);
        value[i] = qp_loader_node(l, p->value);
    }
    if (!value[STEPS])
        return qp_loader_refuse(l, root, "no steps: a pipeline has at least one");
    return QP_OK;
}

static qp_code read_root(qp_loader *l, const yaml_node_t *root)
{
    yaml_node_t *value[KEYS] = {0};
    qp_op *op = &l->p->op;
    const char **texts[] = {&op->name, &op->help, &op->source};
    qp_code code = read_keys(l, root, value);
    for (int i = NAME; i <= SOURCE && code == QP_OK; i++) {
        const char *text = value[i] ? qp_loader_text(l, value[i], keys[i]) : *texts[i];
        *texts[i] = text;
        code = text ? QP_OK : l->err->code;
    }
    if (code == QP_OK && value[INPUTS])
        code = read_inputs(l, value[INPUTS]);
    if (code == QP_OK && value[OPTIONS])
        code = declare_all(l, value[OPTIONS]);
    if (code == QP_OK)
        code = make_table(l);
    if (code == QP_OK)
        code = qp_loader_stages(l, value[STEPS], 0, &l->p->stages);
    return code == QP_OK ? check_options(l) : code;
}

static qp_code read_yaml(qp_loader *l, qp_str text)
{
    yaml_parser_t parser;
    yaml_document_t doc;
    if (!yaml_parser_initialize(&parser))
        return qp_oom(l->err);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.at, text.n);
    qp_code code;
    if (!yaml_parser_load(&parser, &doc)) {
        code = qp_fail(l->err, QP_INPUT, "%s:%zu: not YAML: %s", l->path, parser.problem_mark.line + 1,
                       parser.problem ? parser.problem : "unreadable");
    } else {
        const yaml_node_t *root = yaml_document_get_root_node(&doc);
        l->doc = &doc;
        code = root ? read_root(l, root) : qp_fail(l->err, QP_INPUT, "%s:1: empty: a pipeline has steps", l->path);
        yaml_document_delete(&doc);
    }
    yaml_parser_delete(&parser);
    return code;
}

/* "fastinsight" of "pipelines/fastinsight.yaml". */
static const char *stem(qp_arena *mem, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    qp_str s = {name, dot && dot > name ? (size_t)(dot - name) : strlen(name)};
    return qp_arena_str(mem, s).at;
}

static qp_pipeline *pipeline_new(const char *path)
{
    qp_arena *mem = qp_arena_new();
    qp_pipeline *p = mem ? qp_new(mem, qp_pipeline, 1) : NULL;
    const qp_op **parts = p ? qp_new(mem, const qp_op *, QP_STAGES_MAX) : NULL;
    if (!parts) {
        qp_arena_free(mem);
        return NULL;
    }
    p->mem = mem;
    p->parts = parts;
    p->op = (qp_op){.name = stem(mem, path),
                    .help = "a pipeline of your own",
                    .source = qp_arena_cstr(mem, path),
                    .self = p};
    if (!p->op.name || !p->op.source) {
        qp_arena_free(mem);
        return NULL;
    }
    return p;
}

void qp_pipeline_free(const qp_op *op)
{
    if (!op || !op->self)
        return;
    const qp_pipeline *p = op->self;
    for (uint32_t i = 0; i < p->n_parts; i++)
        qp_pipeline_free(p->parts[i]);
    qp_arena_free(p->mem);
}

qp_code qp_loader_file(const char *path, const qp_op *const *more, int files, uint32_t *stages, const qp_op **out,
                       qp_err *err)
{
    qp_err own = {0};
    qp_buf text = {0};
    qp_code code = qp_file_read(path, FILE_MAX_BYTES, &text, err);
    if (code != QP_OK) {
        qp_buf_free(&text);
        return code;
    }
    qp_pipeline *p = pipeline_new(path);
    if (!p) {
        qp_buf_free(&text);
        return qp_oom(err);
    }
    /* The loader's steps look at its err: one of its own, so that a caller may pass null. */
    qp_loader l = {.path = path,
                   .p = p,
                   .more = more,
                   .files = files,
                   .stages = stages,
                   .n_sets = 1,
                   .n_params = BUILT_IN,
                   .params = {{.name = "edges", .standard = "*"}, {.name = "direction", .standard = "both"}},
                   .err = &own};
    code = read_yaml(&l, qp_buf_view(&text));
    qp_buf_free(&text);
    if (code == QP_OK) {
        *out = &p->op;
        return QP_OK;
    }
    qp_pipeline_free(&p->op);
    return qp_fail(err, own.code, "%s", own.message);
}

qp_code qp_pipeline_load(const char *path, const qp_op *const *more, const qp_op **out, qp_err *err)
{
    uint32_t stages = 0;
    return qp_loader_file(path, more, 0, &stages, out, err);
}
