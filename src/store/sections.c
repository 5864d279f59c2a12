/* The sections of a mapped snapshot: what each is called, how large the counts say that it is, where it lies. */
#include "base/hash.h"
#include "store/codec.h"
#include "store/mapped.h"

static const char *const names[QP_SECTIONS] = {
    [QP_S_INFO] = "info",
    [QP_S_TEXTS] = "texts",
    [QP_S_STRINGS] = "strings",
    [QP_S_DOCUMENTS] = "documents",
    [QP_S_NODES] = "nodes",
    [QP_S_TYPES] = "types",
    [QP_S_EDGE_FROM] = "edge.from",
    [QP_S_EDGE_TO] = "edge.to",
    [QP_S_EDGE_TYPE] = "edge.type",
    [QP_S_EDGE_WEIGHT] = "edge.weight",
    [QP_S_OUT] = "out",
    [QP_S_IN] = "in",
    [QP_S_IN_EDGE] = "in.edge",
    [QP_S_BOTH] = "both",
    [QP_S_BOTH_NODE] = "both.node",
    [QP_S_VECTORS] = "vectors",
    [QP_S_CODES] = "codes",
    [QP_S_SCALES] = "scales",
    [QP_S_ANN_LEVEL] = "ann.level",
    [QP_S_ANN_UPPER] = "ann.upper",
    [QP_S_ANN_BASE] = "ann.base",
    [QP_S_ANN_LINKS] = "ann.links",
    [QP_S_TERMS] = "terms",
    [QP_S_BLOCKS] = "blocks",
    [QP_S_POSTINGS] = "postings",
    [QP_S_LENGTHS] = "lengths",
    [QP_S_NORMS] = "norms",
    [QP_S_EXPANDED_TERMS] = "expanded.terms",
    [QP_S_EXPANDED_BLOCKS] = "expanded.blocks",
    [QP_S_EXPANDED_POSTINGS] = "expanded.postings",
    [QP_S_EXPANDED_LENGTHS] = "expanded.lengths",
    [QP_S_LEARNED] = "learned",
    [QP_S_LEARNED_BLOCKS] = "learned.blocks",
    [QP_S_LEARNED_POSTINGS] = "learned.postings",
    [QP_S_TOKEN_START] = "token.start",
    [QP_S_TOKEN_CENTROID] = "token.centroid",
    [QP_S_TOKEN_RESIDUAL] = "token.residual",
    [QP_S_CENTROIDS] = "centroids",
    [QP_S_CENTROID_LISTS] = "centroid.lists",
    [QP_S_CENTROID_BLOCKS] = "centroid.blocks",
    [QP_S_CENTROID_POSTINGS] = "centroid.postings",
    [QP_S_TYPE_VECTORS] = "type.vectors",
    [QP_S_TRIPLE_EDGE] = "triple.edge",
    [QP_S_TRIPLE_VECTORS] = "triple.vectors",
    [QP_S_TRIPLE_CODES] = "triple.codes",
    [QP_S_TRIPLE_SCALES] = "triple.scales",
    [QP_S_HEAD_CODES] = "head.codes",
    [QP_S_HEAD_SCALES] = "head.scales",
    [QP_S_TYPE_HEADS] = "type.heads",
    [QP_S_SAID_EDGE] = "said.edge",
    [QP_S_SAID] = "said",
    [QP_S_PART] = "part",
    [QP_S_PART_START] = "part.start",
    [QP_S_PART_MEMBER] = "part.member",
    [QP_S_WALKS] = "walks",
    [QP_S_WALK_STOPS] = "walk.stops",
};

const char *qp_section_name(qp_section section)
{
    return names[section];
}

qp_code qp_snapshot_damaged(const qp_snapshot *s, const char *section, const char *what, qp_err *err)
{
    return qp_fail(err, QP_STORE, "%s: is damaged in section '%s': %s: run `quipu index` again to rebuild it", s->path,
                   section, what);
}

/* ---- are they there? ---- */

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

/* What the counts call for; UINT64_MAX: any size. Counts were held below 2^32 and dim below 2^16, so nothing
 * overflows. */
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
    case QP_S_TRIPLE_EDGE:
    case QP_S_TRIPLE_SCALES: return i->triples * 4;
    case QP_S_TRIPLE_CODES: return i->triples * i->dim;
    case QP_S_TRIPLE_VECTORS: return i->triples * i->dim * 4;
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
           i->type_vectors <= 1 && i->triples <= i->edges && i->heads <= 1024 && i->head_dim <= 4096 &&
           i->said <= i->edges && i->parts <= i->nodes && i->walk_stops < (UINT64_C(1) << 48) && i->ann_m <= 1024 &&
           i->ann_rows < UINT32_MAX && (!i->ann_m || i->coded) && (i->ann_m || !i->ann_rows);
}

static qp_code check_sections(qp_snapshot *s, qp_err *err)
{
    for (int i = 0; i < QP_SECTIONS; i++) {
        const qp_toc_entry *e = &s->toc[i];
        if (e->at > s->map.n || e->bytes > s->map.n - e->at || e->at % QP_SECTION_ALIGN)
            return qp_snapshot_damaged(s, names[i], "it lies outside the file", err);
        if (i == QP_S_INFO) {
            s->info = (const qp_info *)(s->map.at + e->at);
            if (e->bytes != sizeof *s->info || !counts_fit(s->info))
                return qp_snapshot_damaged(s, names[i], "its counts cannot be", err);
        }
        uint64_t wanted = size_wanted(s->info, (qp_section)i);
        if (wanted != UINT64_MAX && wanted != e->bytes)
            return qp_snapshot_damaged(s, names[i], "its size is not what the counts call for", err);
    }
    return QP_OK;
}

/* ---- where they are ---- */

static const void *section(const qp_snapshot *s, qp_section i)
{
    return s->map.at + s->toc[i].at;
}

static qp_postings postings(const qp_snapshot *s, qp_section blocks, uint64_t n, qp_section bytes)
{
    return (qp_postings){section(s, blocks), n, section(s, bytes), s->toc[bytes].bytes, s->nodes};
}

static void point_at_counts(qp_snapshot *s)
{
    const qp_info *i = s->info;
    s->documents = (uint32_t)i->documents;
    s->nodes = (uint32_t)i->nodes;
    s->edges = (uint32_t)i->edges;
    s->types = (uint32_t)i->types;
    s->dim = (uint32_t)i->dim;
    s->entity = (uint32_t)i->entity;
    s->heads = (uint32_t)i->heads;
    s->head_dim = (uint32_t)i->head_dim;
    s->learned_terms = (uint32_t)i->learned;
    s->token_dim = (uint32_t)i->token_dim;
    s->centroids = (uint32_t)i->centroids;
}

static void point_at_graph(qp_snapshot *s)
{
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
    s->said_edge = section(s, QP_S_SAID_EDGE);
    s->said = section(s, QP_S_SAID);
    s->part = section(s, QP_S_PART);
    s->part_start = section(s, QP_S_PART_START);
    s->part_member = section(s, QP_S_PART_MEMBER);
    s->walk = section(s, QP_S_WALKS);
    s->walk_stop = section(s, QP_S_WALK_STOPS);
    s->synonym =
        s->info->synonyms ? qp_snapshot_find(s, s->type, sizeof *s->type, s->types, QP_STR(QP_SYNONYM)) : UINT32_MAX;
}

static void point_at_vectors(qp_snapshot *s)
{
    s->vector = section(s, QP_S_VECTORS);
    s->code = section(s, QP_S_CODES);
    s->scale = section(s, QP_S_SCALES);
    s->ann_level = section(s, QP_S_ANN_LEVEL);
    s->ann_upper = section(s, QP_S_ANN_UPPER);
    s->ann_base = section(s, QP_S_ANN_BASE);
    s->ann_links = section(s, QP_S_ANN_LINKS);
    s->type_vector = s->info->type_vectors ? section(s, QP_S_TYPE_VECTORS) : NULL;
    s->triple_edge = section(s, QP_S_TRIPLE_EDGE);
    s->triple_vector = s->info->triples ? section(s, QP_S_TRIPLE_VECTORS) : NULL;
    s->triple_code = section(s, QP_S_TRIPLE_CODES);
    s->triple_scale = section(s, QP_S_TRIPLE_SCALES);
    s->head_code = section(s, QP_S_HEAD_CODES);
    s->head_scale = section(s, QP_S_HEAD_SCALES);
    s->type_head = section(s, QP_S_TYPE_HEADS);
    s->token_start = section(s, QP_S_TOKEN_START);
    s->token_centroid = section(s, QP_S_TOKEN_CENTROID);
    s->token_residual = section(s, QP_S_TOKEN_RESIDUAL);
    s->centroid = section(s, QP_S_CENTROIDS);
    s->centroid_list = section(s, QP_S_CENTROID_LISTS);
    s->centroid_of = postings(s, QP_S_CENTROID_BLOCKS, s->info->centroid_blocks, QP_S_CENTROID_POSTINGS);
}

static void point_at_terms(qp_snapshot *s)
{
    const qp_info *i = s->info;
    s->texts = (qp_lexical){
        section(s, QP_S_TERMS),   (uint32_t)i->texts.terms, postings(s, QP_S_BLOCKS, i->texts.blocks, QP_S_POSTINGS),
        section(s, QP_S_LENGTHS), section(s, QP_S_NORMS),   &i->texts};
    s->expanded = (qp_lexical){section(s, QP_S_EXPANDED_TERMS),
                               (uint32_t)i->expanded.terms,
                               postings(s, QP_S_EXPANDED_BLOCKS, i->expanded.blocks, QP_S_EXPANDED_POSTINGS),
                               i->expander.n ? section(s, QP_S_EXPANDED_LENGTHS) : NULL,
                               NULL,
                               &i->expanded};
    s->learned = section(s, QP_S_LEARNED);
    s->learned_of = postings(s, QP_S_LEARNED_BLOCKS, i->learned_blocks, QP_S_LEARNED_POSTINGS);
}

qp_code qp_snapshot_sections(qp_snapshot *s, qp_err *err)
{
    qp_code code = check_head(s, err);
    code = code ? code : check_sections(s, err);
    if (code)
        return code;
    point_at_counts(s);
    point_at_graph(s);
    point_at_vectors(s);
    point_at_terms(s);
    return QP_OK;
}

bool qp_snapshot_ref(const qp_snapshot *s, qp_section in, qp_ref ref, qp_str *out)
{
    *out = (qp_str){"", 0};
    if (ref.at > s->toc[in].bytes || ref.n > s->toc[in].bytes - ref.at)
        return false;
    *out = (qp_str){(const char *)section(s, in) + ref.at, ref.n};
    return true;
}
