/* Opening a snapshot, and what is read of it besides the view. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/shelf.h"
#include "store/codec.h"
#include "store/mapped.h"

static const char *const section_names[QP_SECTIONS] = {
    "info",
    "texts",
    "strings",
    "documents",
    "nodes",
    "types",
    "edge.from",
    "edge.to",
    "edge.type",
    "edge.weight",
    "out",
    "in",
    "in.edge",
    "both",
    "both.node",
    "vectors",
    "codes",
    "scales",
    "ann.level",
    "ann.upper",
    "ann.base",
    "ann.links",
    "terms",
    "blocks",
    "postings",
    "lengths",
    "norms",
    "expanded.terms",
    "expanded.blocks",
    "expanded.postings",
    "expanded.lengths",
    "learned",
    "learned.blocks",
    "learned.postings",
    "token.start",
    "token.centroid",
    "token.residual",
    "centroids",
    "centroid.lists",
    "centroid.blocks",
    "centroid.postings",
    "type.vectors",
    "triple.vectors",
    "head.codes",
    "head.scales",
    "type.heads",
    "said.edge",
    "said",
    "part",
    "part.start",
    "part.member",
    "walks",
    "walk.stops",
};

const char *qp_section_name(qp_section section)
{
    return section_names[section];
}

qp_code qp_snapshot_damaged(const qp_snapshot *s, const char *section, const char *what, qp_err *err)
{
    return qp_fail(err, QP_STORE, "%s: is damaged in section '%s': %s: run `quipu index` again to rebuild it", s->path,
                   section, what);
}

/* ---- opening ---- */

static qp_code check_head(qp_snapshot *s, qp_err *err)
{
    static const qp_head model = {QP_SNAPSHOT_MAGIC, QP_SNAPSHOT_VERSION, QP_SECTIONS, 0, 0};
    struct {
        qp_head head;
        qp_toc_entry toc[QP_SECTIONS];
    } front;
    if (s->map.n < sizeof front.head || memcmp(s->map.at, model.magic, sizeof model.magic))
        return qp_fail(err, QP_STORE, "%s: is no snapshot of ours: run `quipu index` again to rebuild it", s->path);
    memcpy(&front.head, s->map.at, sizeof front.head);
    if (front.head.version != QP_SNAPSHOT_VERSION)
        return qp_fail(err, QP_STORE,
                       "%s: has format %u, this program reads format %d: run `quipu index` again to rebuild it",
                       s->path, front.head.version, QP_SNAPSHOT_VERSION);
    if (front.head.bytes != s->map.n || s->map.n < sizeof front || front.head.sections != QP_SECTIONS)
        return qp_fail(err, QP_STORE,
                       "%s: is damaged: %zu bytes, %llu were written: run `quipu index` again to rebuild it", s->path,
                       s->map.n, (unsigned long long)front.head.bytes);
    memcpy(&front, s->map.at, sizeof front);
    front.head.checksum = 0;
    s->head = (const qp_head *)s->map.at;
    s->toc = (const qp_toc_entry *)(s->head + 1);
    if (qp_hash64((qp_str){(const char *)&front, sizeof front}) != s->head->checksum)
        return qp_snapshot_damaged(s, "contents", "its checksum is wrong", err);
    return QP_OK;
}

/* What the counts call for; UINT64_MAX: any size. Counts were held below 2^32 and dim below 2^16, so nothing overflows. */
static uint64_t size_wanted(const qp_info *i, qp_section section)
{
    switch (section) {
    case QP_S_INFO: return sizeof *i;
    case QP_S_DOCUMENTS: return i->documents * sizeof(qp_document_entry);
    case QP_S_NODES: return i->nodes * sizeof(qp_node_entry);
    case QP_S_TYPES: return i->types * sizeof(qp_ref);
    case QP_S_EDGE_FROM:
    case QP_S_EDGE_TO:
    case QP_S_EDGE_WEIGHT:
    case QP_S_IN_EDGE: return i->edges * 4;
    case QP_S_EDGE_TYPE: return i->edges * 4;
    case QP_S_OUT:
    case QP_S_IN:
    case QP_S_BOTH: return (i->nodes + 1) * 8;
    case QP_S_BOTH_NODE: return i->arcs * 4;
    case QP_S_TYPE_VECTORS: return i->type_vectors ? i->types * i->dim * 4 : 0;
    case QP_S_TRIPLE_VECTORS: return i->triple_vectors ? i->edges * i->dim * 4 : 0;
    case QP_S_HEAD_CODES: return i->nodes * i->heads * i->head_dim;
    case QP_S_HEAD_SCALES: return i->nodes * i->heads * 4;
    case QP_S_TYPE_HEADS: return i->types * i->heads * i->head_dim * 4;
    case QP_S_SAID_EDGE: return i->said * 4;
    case QP_S_SAID: return i->said * sizeof(qp_ref);
    case QP_S_PART:
    case QP_S_PART_MEMBER: return i->parts ? i->nodes * 4 : 0;
    case QP_S_PART_START: return i->parts ? (i->parts + 1) * 4 : 0;
    case QP_S_WALKS: return i->walk_stops ? (i->nodes + 1) * 8 : 0;
    case QP_S_WALK_STOPS: return i->walk_stops * 4;
    case QP_S_LENGTHS:
    case QP_S_NORMS: return i->nodes * 4;
    case QP_S_VECTORS: return i->nodes * i->dim * 4;
    case QP_S_CODES: return i->coded ? i->nodes * i->dim : 0;
    case QP_S_SCALES: return i->coded ? i->nodes * 4 : 0;
    case QP_S_ANN_LEVEL: return i->ann_m ? i->nodes : 0;
    case QP_S_ANN_UPPER: return i->ann_m ? i->nodes * 8 : 0;
    case QP_S_ANN_BASE: return i->ann_m ? i->nodes * (1 + 2 * i->ann_m) * 4 : 0;
    case QP_S_ANN_LINKS: return i->ann_rows * (1 + i->ann_m) * 4;
    case QP_S_TERMS: return i->texts.terms * sizeof(qp_term_entry);
    case QP_S_BLOCKS: return i->texts.blocks * sizeof(qp_block_entry);
    case QP_S_EXPANDED_TERMS: return i->expanded.terms * sizeof(qp_term_entry);
    case QP_S_EXPANDED_BLOCKS: return i->expanded.blocks * sizeof(qp_block_entry);
    case QP_S_EXPANDED_LENGTHS: return i->expander.n ? i->nodes * 4 : 0;
    case QP_S_LEARNED: return i->learned * sizeof(qp_learned_entry);
    case QP_S_LEARNED_BLOCKS: return i->learned_blocks * sizeof(qp_block_entry);
    case QP_S_TOKEN_START: return i->token_dim ? (i->entity + 1) * 8 : 0;
    case QP_S_TOKEN_CENTROID: return i->tokens * 2;
    case QP_S_TOKEN_RESIDUAL: return i->tokens * qp_codec_bytes((uint32_t)i->token_dim);
    case QP_S_CENTROIDS: return i->centroids * i->token_dim * 4;
    case QP_S_CENTROID_LISTS: return i->centroids * sizeof(qp_learned_entry);
    case QP_S_CENTROID_BLOCKS: return i->centroid_blocks * sizeof(qp_block_entry);
    case QP_S_CENTROID_POSTINGS:
    case QP_S_TEXTS:
    case QP_S_STRINGS:
    case QP_S_POSTINGS:
    case QP_S_EXPANDED_POSTINGS:
    case QP_S_LEARNED_POSTINGS:
    case QP_SECTIONS: break;
    }
    return UINT64_MAX;
}

static bool lexical_fits(const qp_lexical_info *l)
{
    return l->terms < UINT32_MAX && l->blocks < UINT32_MAX && l->passage_words <= l->words;
}

static bool counts_fit(const qp_info *i)
{
    return i->documents < UINT32_MAX && i->nodes < UINT32_MAX && i->edges < UINT32_MAX && i->types < UINT32_MAX &&
           lexical_fits(&i->texts) && lexical_fits(&i->expanded) && i->learned < UINT32_MAX &&
           i->learned_blocks < UINT32_MAX && i->tokens < (UINT64_C(1) << 40) && i->token_dim <= UINT16_MAX &&
           i->centroids <= 1 << 16 && i->centroid_blocks < UINT32_MAX && (i->token_dim || !i->tokens) &&
           i->dim <= UINT16_MAX && i->coded <= 1 && i->entity <= i->nodes && i->arcs <= 2 * (uint64_t)UINT32_MAX &&
           i->type_vectors <= 1 && i->triple_vectors <= 1 && i->heads <= 1024 && i->head_dim <= 4096 &&
           i->said <= i->edges && i->parts <= i->nodes && i->walk_stops < (UINT64_C(1) << 48) && i->ann_m <= 1024 &&
           i->ann_rows < UINT32_MAX && (!i->ann_m || i->coded) && (i->ann_m || !i->ann_rows);
}

static qp_code check_sections(qp_snapshot *s, qp_err *err)
{
    for (int i = 0; i < QP_SECTIONS; i++) {
        const qp_toc_entry *e = &s->toc[i];
        if (e->at > s->map.n || e->bytes > s->map.n - e->at || e->at % QP_SECTION_ALIGN)
            return qp_snapshot_damaged(s, section_names[i], "it lies outside the file", err);
        if (i == QP_S_INFO) {
            s->info = (const qp_info *)(s->map.at + e->at);
            if (e->bytes != sizeof *s->info || !counts_fit(s->info))
                return qp_snapshot_damaged(s, section_names[i], "its counts cannot be", err);
        }
        uint64_t wanted = size_wanted(s->info, (qp_section)i);
        if (wanted != UINT64_MAX && wanted != e->bytes)
            return qp_snapshot_damaged(s, section_names[i], "its size is not what the counts call for", err);
    }
    return QP_OK;
}

static const void *section(const qp_snapshot *s, qp_section i)
{
    return s->map.at + s->toc[i].at;
}

static qp_postings postings(const qp_snapshot *s, qp_section blocks, uint64_t n, qp_section bytes)
{
    return (qp_postings){section(s, blocks), n, section(s, bytes), s->toc[bytes].bytes, s->nodes};
}

static void point_into(qp_snapshot *s)
{
    s->documents = (uint32_t)s->info->documents;
    s->nodes = (uint32_t)s->info->nodes;
    s->edges = (uint32_t)s->info->edges;
    s->types = (uint32_t)s->info->types;
    s->dim = (uint32_t)s->info->dim;
    s->entity = (uint32_t)s->info->entity;
    s->heads = (uint32_t)s->info->heads;
    s->head_dim = (uint32_t)s->info->head_dim;
    s->learned_terms = (uint32_t)s->info->learned;
    s->document = section(s, QP_S_DOCUMENTS);
    s->node = section(s, QP_S_NODES);
    s->type = section(s, QP_S_TYPES);
    s->edge_from = section(s, QP_S_EDGE_FROM);
    s->edge_to = section(s, QP_S_EDGE_TO);
    s->edge_type = section(s, QP_S_EDGE_TYPE);
    s->edge_weight = section(s, QP_S_EDGE_WEIGHT);
    s->out = section(s, QP_S_OUT);
    s->in = section(s, QP_S_IN);
    s->in_edge = section(s, QP_S_IN_EDGE);
    s->both = section(s, QP_S_BOTH);
    s->both_node = section(s, QP_S_BOTH_NODE);
    s->synonym =
        s->info->synonyms ? qp_snapshot_find(s, s->type, sizeof *s->type, s->types, QP_STR(QP_SYNONYM)) : UINT32_MAX;
    s->type_vector = s->info->type_vectors ? section(s, QP_S_TYPE_VECTORS) : NULL;
    s->triple_vector = s->info->triple_vectors ? section(s, QP_S_TRIPLE_VECTORS) : NULL;
    s->head_code = section(s, QP_S_HEAD_CODES);
    s->head_scale = section(s, QP_S_HEAD_SCALES);
    s->type_head = section(s, QP_S_TYPE_HEADS);
    s->vector = section(s, QP_S_VECTORS);
    s->code = section(s, QP_S_CODES);
    s->scale = section(s, QP_S_SCALES);
    s->ann_level = section(s, QP_S_ANN_LEVEL);
    s->ann_upper = section(s, QP_S_ANN_UPPER);
    s->ann_base = section(s, QP_S_ANN_BASE);
    s->ann_links = section(s, QP_S_ANN_LINKS);
    s->texts = (qp_lexical){section(s, QP_S_TERMS),
                            (uint32_t)s->info->texts.terms,
                            postings(s, QP_S_BLOCKS, s->info->texts.blocks, QP_S_POSTINGS),
                            section(s, QP_S_LENGTHS),
                            section(s, QP_S_NORMS),
                            &s->info->texts};
    s->expanded = (qp_lexical){section(s, QP_S_EXPANDED_TERMS),
                               (uint32_t)s->info->expanded.terms,
                               postings(s, QP_S_EXPANDED_BLOCKS, s->info->expanded.blocks, QP_S_EXPANDED_POSTINGS),
                               s->info->expander.n ? section(s, QP_S_EXPANDED_LENGTHS) : NULL,
                               NULL,
                               &s->info->expanded};
    s->learned = section(s, QP_S_LEARNED);
    s->learned_of = postings(s, QP_S_LEARNED_BLOCKS, s->info->learned_blocks, QP_S_LEARNED_POSTINGS);
    s->token_dim = (uint32_t)s->info->token_dim;
    s->centroids = (uint32_t)s->info->centroids;
    s->token_start = section(s, QP_S_TOKEN_START);
    s->token_centroid = section(s, QP_S_TOKEN_CENTROID);
    s->token_residual = section(s, QP_S_TOKEN_RESIDUAL);
    s->centroid = section(s, QP_S_CENTROIDS);
    s->centroid_list = section(s, QP_S_CENTROID_LISTS);
    s->centroid_of = postings(s, QP_S_CENTROID_BLOCKS, s->info->centroid_blocks, QP_S_CENTROID_POSTINGS);
    s->said_edge = section(s, QP_S_SAID_EDGE);
    s->said = section(s, QP_S_SAID);
    s->part = section(s, QP_S_PART);
    s->part_start = section(s, QP_S_PART_START);
    s->part_member = section(s, QP_S_PART_MEMBER);
    s->walk = section(s, QP_S_WALKS);
    s->walk_stop = section(s, QP_S_WALK_STOPS);
}

static char *copy_text(qp_str s)
{
    return strndup(s.at, s.n);
}

qp_code qp_snapshot_open_file(const char *path, uint64_t number, qp_snapshot **out, qp_err *err)
{
    *out = NULL;
    qp_snapshot *s = calloc(1, sizeof *s);
    if (!s)
        return qp_oom(err);
    pthread_mutex_init(&s->lock, NULL);
    s->number = number;
    s->path = strdup(path);
    qp_err why = {0};
    qp_code code = s->path ? QP_OK : qp_oom(err);
    if (!code && qp_file_map(path, &s->map, &why))
        code = qp_fail(err, QP_STORE, "%s", why.message);
    if (!code)
        code = check_head(s, err);
    if (!code)
        code = check_sections(s, err);
    if (!code) {
        point_into(s);
        qp_view_of(s);
        s->view.shelf = qp_shelf_new();
        s->embedder = copy_text(qp_snapshot_string(s, s->info->embedder));
        s->language = copy_text(qp_snapshot_string(s, s->info->language));
        s->sparse = copy_text(qp_snapshot_string(s, s->info->sparse));
        s->attention = copy_text(qp_snapshot_string(s, s->info->attention));
        s->expander = copy_text(qp_snapshot_string(s, s->info->expander));
        code = s->embedder && s->language && s->sparse && s->attention && s->expander && s->view.shelf ? QP_OK
                                                                                                       : qp_oom(err);
    }
    if (code)
        qp_snapshot_close(s);
    else
        *out = s;
    return code;
}

qp_code qp_snapshot_current(const char *dir, char **path, uint64_t *number, qp_arena *a, qp_err *err)
{
    char *pointer = qp_path_join(a, dir, "CURRENT");
    *path = NULL;
    *number = 0;
    if (!pointer)
        return qp_oom(err);
    if (!qp_path_exists(pointer))
        return qp_fail(err, QP_NONE, "%s: holds no published index: make one with `quipu index SOURCE`", dir);
    qp_buf name = {0};
    qp_err why = {0};
    unsigned long long n = 0;
    int end = 0;
    qp_code code = QP_OK;
    if (qp_file_read(pointer, 64, &name, &why))
        code = qp_fail(err, QP_STORE, "%s", why.message);
    else if (!name.n || sscanf(name.at, "snapshot-%llu.qp\n%n", &n, &end) != 1 || (size_t)end != name.n)
        code = qp_fail(err, QP_STORE, "%s: is damaged, it names no snapshot: run `quipu index` again to rebuild it",
                       pointer);
    else if (!(*path = qp_path_join(a, dir, qp_arena_fmt(a, "snapshot-%llu.qp", n).at)))
        code = qp_oom(err);
    *number = n;
    qp_buf_free(&name);
    return code;
}

qp_code qp_snapshot_open(const char *dir, qp_snapshot **out, qp_err *err)
{
    *out = NULL;
    qp_arena *a = qp_arena_new();
    if (!a)
        return qp_oom(err);
    /* A writer may publish and remove the old file between our reading its name and opening it: look again. */
    qp_code code = QP_STORE;
    for (int tries = 5; code && tries > 0; tries--) {
        char *path;
        uint64_t number;
        qp_err why = {0};
        code = qp_snapshot_current(dir, &path, &number, a, &why);
        if (!code)
            code = qp_snapshot_open_file(path, number, out, &why);
        if (code && (tries == 1 || !path || qp_path_exists(path))) {
            qp_fail(err, QP_STORE, "%s", why.message);
            break;
        }
    }
    qp_arena_free(a);
    return code ? QP_STORE : QP_OK;
}

bool qp_snapshot_is_lost(const qp_snapshot *s)
{
    return qp_file_is_lost(&s->map);
}

void qp_snapshot_close(qp_snapshot *s)
{
    if (!s)
        return;
    qp_shelf_free(s->view.shelf); /* what stands on it reads the map */
    for (int i = 0; i < QP_KEPT_WORDS; i++)
        qp_terms_close(s->words[i]);
    pthread_mutex_destroy(&s->lock);
    free(s->type_bit);
    qp_file_unmap(&s->map);
    free(s->embedder);
    free(s->language);
    free(s->sparse);
    free(s->attention);
    free(s->expander);
    free(s->path);
    free(s);
}

/* ---- reading ---- */

bool qp_snapshot_ref(const qp_snapshot *s, qp_section in, qp_ref ref, qp_str *out)
{
    *out = (qp_str){"", 0};
    if (ref.at > s->toc[in].bytes || ref.n > s->toc[in].bytes - ref.at)
        return false;
    *out = (qp_str){(const char *)section(s, in) + ref.at, ref.n};
    return true;
}

qp_str qp_snapshot_string(const qp_snapshot *s, qp_ref ref)
{
    qp_str out;
    qp_snapshot_ref(s, QP_S_STRINGS, ref, &out);
    return out;
}

qp_code qp_snapshot_take_words(qp_snapshot *s, qp_terms **out, qp_err *err)
{
    *out = NULL;
    pthread_mutex_lock(&s->lock);
    for (int i = 0; !*out && i < QP_KEPT_WORDS; i++) {
        *out = s->words[i];
        s->words[i] = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    return *out ? QP_OK : qp_terms_open(s->language, out, err);
}

void qp_snapshot_give_words(qp_snapshot *s, qp_terms *words)
{
    pthread_mutex_lock(&s->lock);
    for (int i = 0; words && i < QP_KEPT_WORDS; i++)
        if (!s->words[i]) {
            s->words[i] = words;
            words = NULL;
        }
    pthread_mutex_unlock(&s->lock);
    qp_terms_close(words);
}

const qp_view *qp_snapshot_view(const qp_snapshot *s)
{
    return &s->view;
}

uint32_t qp_snapshot_documents(const qp_snapshot *s)
{
    return s->documents;
}

qp_str qp_snapshot_document_key(const qp_snapshot *s, uint32_t document)
{
    return document < s->documents ? qp_snapshot_string(s, s->document[document].key) : QP_STR("");
}

qp_str qp_snapshot_document_meta(const qp_snapshot *s, uint32_t document)
{
    return document < s->documents ? qp_snapshot_string(s, s->document[document].meta) : QP_STR("");
}

uint32_t qp_snapshot_find(const qp_snapshot *s, const qp_ref *names, size_t stride, uint32_t n, qp_str name)
{
    for (uint32_t low = 0, high = n; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        int order = qp_str_cmp(name, qp_snapshot_string(s, *(const qp_ref *)((const char *)names + middle * stride)));
        if (!order)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return UINT32_MAX;
}

uint32_t qp_snapshot_document_find(const qp_snapshot *s, qp_str key)
{
    return qp_snapshot_find(s, &s->document->key, sizeof *s->document, s->documents, key);
}

uint32_t qp_snapshot_document_of(const qp_snapshot *s, qp_id node)
{
    uint32_t document = node < s->nodes ? s->node[node].document : UINT32_MAX;
    return document < s->documents ? document : UINT32_MAX;
}

void qp_snapshot_document_nodes(const qp_snapshot *s, uint32_t document, qp_id *first, uint32_t *n)
{
    *first = *n = 0;
    if (document >= s->documents)
        return;
    const qp_document_entry *d = &s->document[document];
    if (d->first <= s->nodes && d->n <= s->nodes - d->first) {
        *first = d->first;
        *n = d->n;
    }
}

void qp_snapshot_tokens(const qp_snapshot *s, uint64_t *n, uint64_t *bytes)
{
    *n = s->info->tokens;
    *bytes = 0;
    for (int i = QP_S_TOKEN_START; i <= QP_S_CENTROID_POSTINGS; i++)
        *bytes += s->toc[i].bytes;
}

const char *qp_snapshot_expander(const qp_snapshot *s)
{
    return s->expander;
}

const char *qp_snapshot_embedder(const qp_snapshot *s)
{
    return s->embedder;
}

const char *qp_snapshot_sparse(const qp_snapshot *s)
{
    return s->sparse;
}

const char *qp_snapshot_attention(const qp_snapshot *s)
{
    return s->attention;
}

uint32_t qp_snapshot_entities(const qp_snapshot *s)
{
    return s->nodes - s->entity;
}

uint64_t qp_snapshot_number(const qp_snapshot *s)
{
    return s->number;
}
