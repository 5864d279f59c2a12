/* hnswlib behind a C face. */
extern "C" {
#include "base/err.h"
}
#include "base/thread.h"
#include "store/ann.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#define NO_MANUAL_VECTORIZATION /* its prefetches read one neighbour past the end of a list; its kernels are not used */
#include <hnswlib/hnswlib.h>

#include "store/dot.h"

namespace
{

enum { M = 16, EF_CONSTRUCTION = 128, SEED = 100 };

/* hnswlib keeps a copy of what it compares. Ours is the node's number: the codes stay where they are. */
struct Codes {
    const int8_t *codes;
    const float *scales;
    uint32_t dim;
};

float distance(const void *a, const void *b, const void *self)
{
    const Codes *c = static_cast<const Codes *>(self);
    uint32_t x, y;
    std::memcpy(&x, a, sizeof x);
    std::memcpy(&y, b, sizeof y);
    int32_t dot = qp_dot_i8(c->codes + size_t(x) * c->dim, c->codes + size_t(y) * c->dim, c->dim);
    return -(c->scales[x] * c->scales[y] *
             float(dot)); /* without "1 -": nothing a compiler might fuse and round anew */
}

class CodeSpace : public hnswlib::SpaceInterface<float>
{
    Codes codes_;

  public:
    explicit CodeSpace(const Codes &c) : codes_(c)
    {
    }
    size_t get_data_size() override
    {
        return sizeof(uint32_t);
    }
    hnswlib::DISTFUNC<float> get_dist_func() override
    {
        return distance;
    }
    void *get_dist_func_param() override
    {
        return &codes_;
    }
};

template <typename T> T *zeros(size_t n)
{
    T *at = static_cast<T *>(std::calloc(n ? n : 1, sizeof(T)));
    if (!at)
        throw std::bad_alloc();
    return at;
}

using Graph = hnswlib::HierarchicalNSW<float>;

void copy_row(Graph &g, hnswlib::linklistsizeint *row, uint32_t room, uint32_t *out)
{
    uint32_t n = g.getListCount(row);
    out[0] = n < room ? n : room;
    for (uint32_t i = 0; i < out[0]; i++) /* hnswlib numbers in order of insertion; its labels are our nodes */
        out[1 + i] = uint32_t(g.getExternalLabel(row[1 + i]));
}

void make_room(uint32_t n, qp_ann *out)
{
    out->m = M;
    out->level = zeros<uint8_t>(n);
    out->upper = zeros<uint64_t>(n);
    out->base = zeros<uint32_t>(size_t(n) * (1 + 2 * M));
}

/* Adds one part's links. */
void keep(Graph &g, int part, qp_ann *out)
{
    uint64_t row = out->rows;
    for (size_t i = 0; i < g.cur_element_count; i++)
        out->rows += uint64_t(g.element_levels_[i]);
    void *more = std::realloc(out->links, (out->rows * (1 + M) + 1) * sizeof *out->links);
    if (!more)
        throw std::bad_alloc();
    out->links = static_cast<uint32_t *>(more);
    std::memset(out->links + row * (1 + M), 0, (out->rows - row) * (1 + M) * sizeof *out->links);
    for (hnswlib::tableint i = 0; i < g.cur_element_count; i++) {
        size_t node = g.getExternalLabel(i);
        out->level[node] = uint8_t(g.element_levels_[i]);
        out->upper[node] = row;
        copy_row(g, g.get_linklist0(i), 2 * M, out->base + node * (1 + 2 * M));
        for (int layer = 1; layer <= g.element_levels_[i]; layer++)
            copy_row(g, g.get_linklist(i, layer), M, out->links + row++ * (1 + M));
    }
    if (g.cur_element_count)
        out->entry[part] = uint32_t(g.getExternalLabel(g.enterpoint_node_));
}

/* Adds the nodes of [from, to) that have a vector; false: stopped. */
bool add_all(Graph &g, const float *scales, uint32_t from, uint32_t to, volatile const int *cancel)
{
    for (uint32_t i = from; i < to; i++) {
        if (qp_cancelled(cancel))
            return false;
        if (scales[i] > 0)
            g.addPoint(&i, i);
    }
    return true;
}

qp_code stopped(qp_err *err)
{
    return qp_fail(err, QP_STOPPED, "stopped while the vector index was built; run it again to go on");
}

/* `what` is hnswlib's words. */
qp_code failed(const char *what, qp_err *err)
{
    bool memory = !std::strncmp(what, "Not enough memory", 17); /* where malloc gave nothing */
    return memory ? qp_oom(err) : qp_fail(err, QP_BUG, "the vector index could not be built: %s", what);
}

bool search_all(Graph &g, const float *scales, uint32_t from, uint32_t to, uint32_t k, volatile const int *cancel,
                uint32_t *near)
{
    g.setEf(EF_CONSTRUCTION);
    for (uint32_t i = from; i < to; i++, near += k) {
        uint32_t n = 0;
        if (qp_cancelled(cancel))
            return false;
        if (scales[i] > 0)
            for (auto found = g.searchKnn(&i, k); !found.empty(); found.pop())
                near[n++] = uint32_t(found.top().second);
        for (; n < k; n++)
            near[n] = UINT32_MAX;
    }
    return true;
}

} // namespace

extern "C" qp_code qp_ann_near(const int8_t *codes, const float *scales, uint32_t from, uint32_t to, uint32_t dim,
                               uint32_t k, volatile const int *cancel, uint32_t *near, qp_err *err)
{
    try {
        CodeSpace space(Codes{codes, scales, dim});
        Graph graph(&space, to - from, M, EF_CONSTRUCTION, SEED);
        bool whole = add_all(graph, scales, from, to, cancel) && search_all(graph, scales, from, to, k, cancel, near);
        return whole ? QP_OK : stopped(err);
    } catch (const std::bad_alloc &) {
        return qp_oom(err);
    } catch (const std::exception &e) {
        return failed(e.what(), err);
    }
}

extern "C" qp_code qp_ann_build(const int8_t *codes, const float *scales, uint32_t middle, uint32_t n, uint32_t least,
                                uint32_t dim, volatile const int *cancel, qp_ann *out, qp_err *err)
{
    const uint32_t bound[] = {0, middle, n};
    std::memset(out, 0, sizeof *out);
    out->entry[0] = out->entry[1] = UINT32_MAX;
    try {
        CodeSpace space(Codes{codes, scales, dim});
        make_room(n, out);
        for (int part = 0; part < 2; part++) {
            uint32_t size = bound[part + 1] - bound[part];
            if (!size || size < least)
                continue;
            Graph graph(&space, size, M, EF_CONSTRUCTION, SEED);
            if (!add_all(graph, scales, bound[part], bound[part + 1], cancel)) {
                qp_ann_free(out);
                return stopped(err);
            }
            keep(graph, part, out);
        }
        return QP_OK;
    } catch (const std::bad_alloc &) {
        qp_ann_free(out);
        return qp_oom(err);
    } catch (const std::exception &e) {
        qp_ann_free(out);
        return failed(e.what(), err);
    }
}

extern "C" void qp_ann_free(qp_ann *a)
{
    std::free(a->level);
    std::free(a->upper);
    std::free(a->base);
    std::free(a->links);
    std::memset(a, 0, sizeof *a);
}
