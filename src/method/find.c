/* A method by its name, or a pipeline by its file. */
#include "base/file.h"
#include "base/share.h"
#include "method/method.h"
#include "op/op.h"

static qp_code no_such_method(const char *name, qp_err *err)
{
    const char *names[64], *colon = strchr(name, ':'), *first = NULL, *last = NULL;
    size_t n = 0;
    for (const qp_op *const *m = qp_methods(); *m && n < 64; m++) {
        names[n++] = (*m)->name;
        if (colon && !strncmp((*m)->name, name, (size_t)(colon - name) + 1)) { /* "lego:17": as far as they go */
            first = first ? first : (*m)->name;
            last = (*m)->name;
        }
    }
    if (first)
        return qp_fail(err, QP_INPUT, "no method '%s': there are %s to %s", name, first, last);
    if (strchr(name, ','))
        return qp_fail(err, QP_INPUT, "one method was wanted, '%s' was found: `quipu eval` compares several", name);
    const char *near = qp_nearest(name, names, n);
    return qp_fail(err, QP_INPUT, "no method '%s' (%s%s)", name,
                   near ? near : "`quipu methods` lists them; a pipeline is a .yaml file", near ? "?" : "");
}

/* A pipeline that comes with Quipu is found by its bare file name. */
static qp_code load(const char *name, const qp_op **out, qp_err *err)
{
    qp_arena *mem = qp_arena_new();
    if (!mem)
        return qp_oom(err);
    char *shipped = NULL;
    const char *of_ours = qp_arena_fmt(mem, "pipelines/%s", name).at;
    if (of_ours && !strchr(name, '/') && !qp_path_exists(name))
        shipped = qp_share_find(mem, of_ours);
    qp_code code = of_ours ? qp_pipeline_load(shipped ? shipped : name, qp_methods(), out, err) : qp_oom(err);
    qp_arena_free(mem);
    return code;
}

qp_code qp_method_find(const char *name, const qp_op **out, bool *owned, qp_err *err)
{
    *owned = qp_str_ends(qp_str_of(name), QP_STR(".yaml")) || qp_str_ends(qp_str_of(name), QP_STR(".yml"));
    if (*owned)
        return load(name, out, err);
    for (const qp_op *const *m = qp_methods(); *m; m++) {
        if (strcmp((*m)->name, name) == 0) {
            *out = *m;
            return QP_OK;
        }
    }
    return no_such_method(name, err);
}
