/* SentencePiece's model file, as far as XLM-RoBERTa needs it: a protobuf with pieces (field 1), the trainer's settings
 * (field 2) and the normaliser's (field 3). Foreign bytes: each length is checked against what is left.
 */
#include "model/import.h"

#include <string.h>

typedef struct wire { /* what is left of a message */
    const uint8_t *at, *end;
} wire;

typedef struct field {
    uint64_t number;
    uint64_t value; /* varint, or the 32 bits of a fixed32 */
    wire body;      /* length-delimited */
} field;

static bool read_varint(wire *w, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64 && w->at < w->end; shift += 7) {
        uint8_t byte = *w->at++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* The next field, whatever it is; false at the end and on damage (then at != end). */
static bool read_field(wire *w, field *f)
{
    uint64_t key;
    const wire start = *w;
    uint64_t n = 0;

    *f = (field){0};
    if (w->at == w->end)
        return false;
    if (!read_varint(w, &key))
        goto damaged;
    f->number = key >> 3;
    switch (key & 7) {
    case 0:
        if (!read_varint(w, &f->value))
            goto damaged;
        return true;
    case 1: n = 8; break;
    case 2:
        if (!read_varint(w, &n))
            goto damaged;
        break;
    case 5: n = 4; break;
    default: goto damaged;
    }
    if (n > (uint64_t)(w->end - w->at))
        goto damaged;
    f->body = (wire){w->at, w->at + n};
    for (uint64_t i = 0; i < n && (key & 7) == 5; i++)
        f->value |= (uint64_t)w->at[i] << (8 * i);
    w->at += n;
    return true;
damaged:
    *w = start;
    return false;
}

static qp_str body_str(field f)
{
    return (qp_str){(const char *)f.body.at, (size_t)(f.body.end - f.body.at)};
}

/* A piece's place among XLM-RoBERTa's ids: <s> <pad> </s> <unk> first, then the file's from its fourth on. */
static qp_code add_piece(qp_vocab *v, qp_arena *mem, uint64_t i, wire piece, const char *where, qp_err *err)
{
    field f;
    qp_str text = {"", 0};
    float score = 0;
    uint64_t type = 1;

    while (read_field(&piece, &f)) {
        uint32_t bits = (uint32_t)f.value;
        if (f.number == 1)
            text = body_str(f);
        else if (f.number == 2)
            memcpy(&score, &bits, sizeof score);
        else if (f.number == 3)
            type = f.value;
    }
    if (piece.at != piece.end || type < 1 || type > 6)
        return qp_fail(err, QP_INPUT, "%s: piece %llu is damaged", where, (unsigned long long)i);
    if (i < 3) /* <unk> <s> </s> in the file */
        return QP_OK;
    return qp_vocab_set(v, mem, i + 1, text, score, (qp_token_type)type, where, err);
}

static qp_code set_special(qp_vocab *v, qp_arena *mem, const char *where, qp_err *err)
{
    static const char *const first[] = {"<s>", "<pad>", "</s>", "<unk>"};
    qp_code code = QP_OK;
    for (uint64_t i = 0; !code && i < 4; i++)
        code =
            qp_vocab_set(v, mem, i, qp_str_of(first[i]), 0, i == 3 ? QP_TOKEN_UNKNOWN : QP_TOKEN_CONTROL, where, err);
    if (!code && v->n && !v->text[v->n - 1]) /* the mask follows the pieces and stands in no file */
        code = qp_vocab_set(v, mem, v->n - 1, QP_STR("<mask>"), 0, QP_TOKEN_CONTROL, where, err);
    return code;
}

static void read_normalizer(qp_vocab *v, wire w)
{
    field f;
    while (read_field(&w, &f)) {
        if (f.number == 2)
            v->charsmap = body_str(f);
        else if (f.number == 3)
            v->prefix_space = f.value != 0;
        else if (f.number == 4)
            v->squeeze_spaces = f.value != 0;
    }
}

qp_code qp_vocab_sentencepiece(qp_vocab *v, qp_arena *mem, qp_str bytes, const char *where, qp_err *err)
{
    wire w = {(const uint8_t *)bytes.at, (const uint8_t *)bytes.at + bytes.n};
    field f;
    uint64_t i = 0, model = 1;
    qp_code code = QP_OK;

    v->prefix_space = v->squeeze_spaces = true; /* the protobuf's defaults */
    while (!code && read_field(&w, &f)) {
        wire trainer = f.body;
        field g;
        if (f.number == 1)
            code = add_piece(v, mem, i++, f.body, where, err);
        else if (f.number == 3)
            read_normalizer(v, f.body);
        while (f.number == 2 && read_field(&trainer, &g))
            model = g.number == 3 ? g.value : model;
    }
    if (!code && w.at != w.end)
        code = qp_fail(err, QP_INPUT, "%s: damaged after piece %llu, or no SentencePiece model", where,
                       (unsigned long long)i);
    if (!code && model != 1)
        code = qp_fail(err, QP_INPUT, "%s: a SentencePiece model of type %llu where Unigram (1) was wanted", where,
                       (unsigned long long)model);
    if (!code && v->charsmap.n) { /* it points into bytes, which the caller frees */
        v->charsmap = qp_arena_str(mem, v->charsmap);
        if (!v->charsmap.at)
            code = qp_oom(err);
    }
    return code ? code : set_special(v, mem, where, err);
}
