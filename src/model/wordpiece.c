#include "model/wordpiece.h"

#include <stdlib.h>
#include <utf8proc.h>

#define WORD_START "\xe2\x96\x81" /* U+2581: what llama.cpp's converter puts before a piece that begins a word */
enum { LONGEST_WORD = 100 };      /* in characters; longer ones are unknown as a whole */

bool qp_ids_room(qp_ids *ids, uint32_t n)
{
    if (ids->cap - ids->n >= n)
        return true;
    uint64_t cap = 2 * (uint64_t)ids->cap;
    cap = cap < (uint64_t)ids->n + n ? (uint64_t)ids->n + n + 256 : cap;
    int32_t *at = cap <= UINT32_MAX ? realloc(ids->at, cap * sizeof *at) : NULL;
    ids->at = at ? at : ids->at;
    uint32_t *word = at && ids->words ? realloc(ids->word, cap * sizeof *word) : NULL;
    ids->word = word ? word : ids->word;
    if (!at || (ids->words && !word)) {
        ids->oom = true;
        return false;
    }
    ids->cap = (uint32_t)cap;
    return true;
}

void qp_ids_add(qp_ids *ids, int32_t id)
{
    if (!qp_ids_room(ids, 1))
        return;
    if (ids->words)
        ids->word[ids->n] = QP_NO_WORD;
    ids->at[ids->n++] = id;
}

/* ---- opening ---- */

static qp_code find_special(const qp_wordpiece *w, const qp_gguf *g, const char *spelling, int32_t *id, qp_err *err)
{
    const uint64_t *slot = qp_map_get(w->vocabulary, qp_str_of(spelling));
    if (!slot)
        return qp_fail(err, QP_MODEL, "%s: its vocabulary has no %s, so it is not a BERT WordPiece one", g->path,
                       spelling);
    *id = (int32_t)*slot;
    return QP_OK;
}

static qp_code find_specials(qp_wordpiece *w, const qp_gguf *g, qp_err *err)
{
    qp_code code = find_special(w, g, "[CLS]", &w->cls, err);
    if (!code)
        code = find_special(w, g, "[SEP]", &w->sep, err);
    if (!code)
        code = find_special(w, g, "[UNK]", &w->unk, err);
    if (code)
        return code;
    const uint64_t *pad = qp_map_get(w->vocabulary, QP_STR("[PAD]")),
                   *mask = qp_map_get(w->vocabulary, QP_STR("[MASK]"));
    w->pad = pad ? (int32_t)*pad : -1;
    w->mask = mask ? (int32_t)*mask : -1;
    return QP_OK;
}

qp_code qp_wordpiece_open(const qp_gguf *g, qp_wordpiece *w, qp_err *err)
{
    *w = (qp_wordpiece){.lowercase = true};
    size_t n = qp_gguf_texts(g, "tokenizer.ggml.tokens");
    if (!n || n > INT32_MAX)
        return qp_fail(err, QP_MODEL, "%s: has no vocabulary (tokenizer.ggml.tokens)", g->path);
    if (!(w->vocabulary = qp_map_new()))
        return qp_oom(err);
    qp_code code = QP_OK;
    for (size_t i = 0; i < n && !code; i++) {
        qp_str token = qp_gguf_text_at(g, "tokenizer.ggml.tokens", i);
        /* llama.cpp's converter marks [MASK] as a word where tokenizer_config.json does not list it as special. */
        if (token.n > 5 && token.at[3] == '[' && qp_str_starts(token, QP_STR(WORD_START)) &&
            qp_str_ends(token, QP_STR("]")))
            token = qp_str_slice(token, 3, token.n);
        uint64_t *slot = qp_map_put(w->vocabulary, token, NULL);
        if (slot)
            *slot = i;
        else
            code = qp_oom(err);
    }
    uint64_t flag;
    if (qp_gguf_uint(g, "tokenizer.ggml.normalizer.lowercase", &flag))
        w->lowercase = flag;
    w->strip_accents = w->lowercase; /* HF: strip_accents null means "as lowercase" */
    if (qp_gguf_uint(g, "tokenizer.ggml.normalizer.strip_accents", &flag))
        w->strip_accents = flag;
    if (!code)
        code = find_specials(w, g, err);
    if (code)
        qp_wordpiece_close(w);
    return code;
}

void qp_wordpiece_close(qp_wordpiece *w)
{
    qp_map_free(w->vocabulary);
    *w = (qp_wordpiece){0};
}

/* ---- a word to pieces ---- */

typedef struct run {
    const qp_wordpiece *w;
    qp_ids *out;
    uint32_t here, begins; /* the byte at hand; where the word at hand began */
    uint32_t characters;   /* in it */
    uint32_t n;            /* bytes of it, WORD_START included */
    char word[sizeof WORD_START + 4 * LONGEST_WORD];
} run;

enum { WORD_START_BYTES = sizeof WORD_START - 1 };

static const uint64_t *find_piece(const run *r, uint32_t from, uint32_t to)
{
    qp_str piece = {r->word + from, to - from};
    if (from && qp_str_starts(piece, QP_STR(WORD_START))) /* inside a word U+2581 is a character like any other */
        return NULL;
    return qp_map_get(r->w->vocabulary, piece);
}

/* Of the tokens from `first` on. */
static void note_word(qp_ids *ids, uint32_t first, uint32_t begins)
{
    for (uint32_t i = first; ids->words && i < ids->n; i++)
        ids->word[i] = begins;
}

/* Greedy, longest match first; a word with a part that is nowhere in the vocabulary is unknown as a whole. */
static void end_word(run *r)
{
    if (!r->characters)
        return;
    uint32_t before = r->out->n, from = 0;
    bool known = r->characters <= LONGEST_WORD;
    while (known && from < r->n) {
        uint32_t to = r->n, least = from ? from : WORD_START_BYTES;
        const uint64_t *id = NULL;
        while (to > least && !(id = find_piece(r, from, to)))
            do /* back by one character */
                to--;
            while (to > least && ((uint8_t)r->word[to] & 0xc0) == 0x80);
        if (!(known = id))
            break;
        qp_ids_add(r->out, (int32_t)*id);
        from = to;
    }
    if (!known) {
        r->out->n = before;
        qp_ids_add(r->out, r->w->unk);
    }
    note_word(r->out, before, r->begins);
    r->n = WORD_START_BYTES;
    r->characters = 0;
}

static void add_to_word(run *r, int32_t c)
{
    if (!r->characters)
        r->begins = r->here;
    if (r->characters++ < LONGEST_WORD)
        r->n += (uint32_t)utf8proc_encode_char(c, (utf8proc_uint8_t *)r->word + r->n);
}

/* ---- characters: the classes of HF tokenizers' BertNormalizer and BertPreTokenizer ---- */

/* HF tokenizers know the categories of Unicode 8: marks and punctuation of later scripts are letters to them. These are
 * the ranges where utf8proc knows better (found by asking both about every code point,
 * tests/reference/wordpiece.py). */
static const int32_t later[][2] = {
    {0x61d, 0x61d},     {0x7fd, 0x7fd},     {0x890, 0x891},     {0x898, 0x89f},     {0x8ca, 0x8e2},
    {0x9fd, 0x9fe},     {0xa76, 0xa76},     {0xafa, 0xaff},     {0xb55, 0xb55},     {0xc04, 0xc04},
    {0xc3c, 0xc3c},     {0xc77, 0xc77},     {0xc84, 0xc84},     {0xd00, 0xd00},     {0xd3b, 0xd3c},
    {0xd81, 0xd81},     {0xeba, 0xeba},     {0xece, 0xece},     {0x180f, 0x180f},   {0x1885, 0x1886},
    {0x1abf, 0x1ace},   {0x1b7d, 0x1b7e},   {0x1df6, 0x1dfb},   {0x2e43, 0x2e4f},   {0x2e52, 0x2e5d},
    {0xa82c, 0xa82c},   {0xa8c5, 0xa8c5},   {0xa8ff, 0xa8ff},   {0xa9bd, 0xa9bd},   {0x10d24, 0x10d27},
    {0x10eab, 0x10ead}, {0x10efd, 0x10eff}, {0x10f46, 0x10f50}, {0x10f55, 0x10f59}, {0x10f82, 0x10f89},
    {0x11070, 0x11070}, {0x11073, 0x11074}, {0x110c2, 0x110c2}, {0x110cd, 0x110cd}, {0x111cf, 0x111cf},
    {0x1123e, 0x1123e}, {0x11241, 0x11241}, {0x1133b, 0x1133b}, {0x11438, 0x1143f}, {0x11442, 0x11444},
    {0x11446, 0x11446}, {0x1144b, 0x1144f}, {0x1145a, 0x1145b}, {0x1145d, 0x1145e}, {0x11660, 0x1166c},
    {0x116b9, 0x116b9}, {0x1182f, 0x11837}, {0x11839, 0x1183b}, {0x1193b, 0x1193c}, {0x1193e, 0x1193e},
    {0x11943, 0x11946}, {0x119d4, 0x119d7}, {0x119da, 0x119db}, {0x119e0, 0x119e0}, {0x119e2, 0x119e2},
    {0x11a01, 0x11a0a}, {0x11a33, 0x11a38}, {0x11a3b, 0x11a47}, {0x11a51, 0x11a56}, {0x11a59, 0x11a5b},
    {0x11a8a, 0x11a96}, {0x11a98, 0x11a9c}, {0x11a9e, 0x11aa2}, {0x11b00, 0x11b09}, {0x11c30, 0x11c36},
    {0x11c38, 0x11c3d}, {0x11c3f, 0x11c3f}, {0x11c41, 0x11c45}, {0x11c70, 0x11c71}, {0x11c92, 0x11ca7},
    {0x11caa, 0x11cb0}, {0x11cb2, 0x11cb3}, {0x11cb5, 0x11cb6}, {0x11d31, 0x11d36}, {0x11d3a, 0x11d3a},
    {0x11d3c, 0x11d3d}, {0x11d3f, 0x11d45}, {0x11d47, 0x11d47}, {0x11d90, 0x11d91}, {0x11d95, 0x11d95},
    {0x11d97, 0x11d97}, {0x11ef3, 0x11ef4}, {0x11ef7, 0x11ef8}, {0x11f00, 0x11f01}, {0x11f36, 0x11f3a},
    {0x11f40, 0x11f40}, {0x11f42, 0x11f4f}, {0x11fff, 0x11fff}, {0x12ff1, 0x12ff2}, {0x13430, 0x13440},
    {0x13447, 0x13455}, {0x16e97, 0x16e9a}, {0x16f4f, 0x16f4f}, {0x16fe2, 0x16fe2}, {0x16fe4, 0x16fe4},
    {0x1cf00, 0x1cf2d}, {0x1cf30, 0x1cf46}, {0x1e000, 0x1e006}, {0x1e008, 0x1e018}, {0x1e01b, 0x1e021},
    {0x1e023, 0x1e024}, {0x1e026, 0x1e02a}, {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae},
    {0x1e2ec, 0x1e2ef}, {0x1e4ec, 0x1e4ef}, {0x1e944, 0x1e94a}, {0x1e95e, 0x1e95f}};

static utf8proc_category_t category(int32_t c)
{
    if (c == 0x166d || c == 0x111c9) /* these three have moved since */
        return UTF8PROC_CATEGORY_PO;
    if (c == 0x1734)
        return UTF8PROC_CATEGORY_MN;
    size_t low = 0, high = sizeof later / sizeof *later;
    while (c >= later[0][0] && low < high) {
        size_t middle = (low + high) / 2;
        if (c > later[middle][1])
            low = middle + 1;
        else if (c < later[middle][0])
            high = middle;
        else
            return UTF8PROC_CATEGORY_LO;
    }
    return utf8proc_category(c);
}

static bool is_dropped(int32_t c)
{
    if (c == 0 || c == 0xfffd)
        return true;
    if (c == '\t' || c == '\n' || c == '\r')
        return false;
    switch (category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO: return true;
    default: return false;
    }
}

static bool is_space(int32_t c)
{
    switch (category(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return true;
    default: return c == '\t' || c == '\n' || c == '\r';
    }
}

/* The blocks that the original BERT code sets apart; Hangul and kana are written with spaces or not at all there. */
static bool is_ideograph(int32_t c)
{
    return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) || (c >= 0x20000 && c <= 0x2a6df) ||
           (c >= 0x2a700 && c <= 0x2b73f) || (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
           (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

static bool is_punctuation(int32_t c)
{
    if (c < 128)
        return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
    switch (category(c)) {
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return true;
    default: return false;
    }
}

/* ---- text to words ---- */

static void add_normalised(run *r, int32_t c)
{
    if (is_punctuation(c)) {
        end_word(r);
        add_to_word(r, c);
        end_word(r);
    } else {
        add_to_word(r, c);
    }
}

static void add_lowered(run *r, int32_t c)
{
    if (!r->w->lowercase) {
        add_normalised(r, c);
    } else if (c == 0x130) { /* the one letter whose lower case is two */
        add_normalised(r, 'i');
        add_normalised(r, 0x307);
    } else {
        add_normalised(r, utf8proc_tolower(c));
    }
}

static void add_character(run *r, int32_t c)
{
    if (is_dropped(c))
        return;
    if (is_space(c)) {
        end_word(r);
        return;
    }
    bool apart = is_ideograph(c);
    if (apart)
        end_word(r);
    if (r->w->strip_accents) {
        int32_t parts[8]; /* the longest canonical decomposition has four */
        int boundary = 0;
        utf8proc_ssize_t n = utf8proc_decompose_char(c, parts, 8, UTF8PROC_DECOMPOSE, &boundary);
        for (utf8proc_ssize_t i = 0; i < n && i < 8; i++)
            if (category(parts[i]) != UTF8PROC_CATEGORY_MN)
                add_lowered(r, parts[i]);
    } else {
        add_lowered(r, c);
    }
    if (apart)
        end_word(r);
}

static void add_ascii(run *r, char c)
{
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
        end_word(r);
    else if (is_punctuation(c))
        add_normalised(r, c);
    else if (c > ' ' && c < 127)
        add_to_word(r, r->w->lowercase && c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* Special tokens spelled out in a text are themselves, as HF has them: a passage about BERT may say "[MASK]". */
static uint32_t special_at(const qp_wordpiece *w, qp_str rest, int32_t *id)
{
    const struct {
        qp_str spelling;
        int32_t id;
    } specials[] = {{QP_STR("[CLS]"), w->cls},
                    {QP_STR("[SEP]"), w->sep},
                    {QP_STR("[UNK]"), w->unk},
                    {QP_STR("[PAD]"), w->pad},
                    {QP_STR("[MASK]"), w->mask}};
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (specials[i].id >= 0 && qp_str_starts(rest, specials[i].spelling)) {
            *id = specials[i].id;
            return (uint32_t)specials[i].spelling.n;
        }
    return 0;
}

void qp_wordpiece_run(const qp_wordpiece *w, qp_str text, uint32_t limit, qp_ids *out)
{
    run r = {.w = w, .out = out, .n = WORD_START_BYTES};
    memcpy(r.word, WORD_START, WORD_START_BYTES);
    uint32_t before = out->n;
    for (size_t i = 0; i < text.n && out->n - before < limit;) {
        int32_t c = (uint8_t)text.at[i], id;
        uint32_t skip;
        r.here = (uint32_t)i;
        if (c == '[' && (skip = special_at(w, qp_str_slice(text, i, text.n), &id))) {
            end_word(&r);
            qp_ids_add(out, id);
            note_word(out, out->n - !out->oom, r.here);
            i += skip;
        } else if (c < 128) {
            add_ascii(&r, (char)c);
            i++;
        } else {
            utf8proc_ssize_t n =
                utf8proc_iterate((const utf8proc_uint8_t *)text.at + i, (utf8proc_ssize_t)(text.n - i), &c);
            i += n > 0 ? (size_t)n : 1; /* a byte that is no UTF-8 counts as U+FFFD, which is dropped */
            if (n > 0)
                add_character(&r, c);
        }
    }
    end_word(&r);
}
