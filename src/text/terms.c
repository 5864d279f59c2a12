/* Words by a small automaton over word-break classes, ASCII by table, the rest by ICU's properties; the stems of the
 * words seen last are kept in a small cache, because Snowball is slower than all else here together.
 */
#include "text/terms.h"

#include <libstemmer.h>
#include <stdlib.h>
#include <strings.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <utf8proc.h>

#include "text/utf8.h"

/* Of a character; UNKNOWN: not looked up yet. */
enum sort {
    UNKNOWN,
    OTHER,
    LETTER,
    NUMBER,
    JOINER,     /* "_": joins letters and numbers, makes no word alone */
    MID_LETTER, /* joins letters: U+00B7 */
    MID_NUMBER, /* joins numbers: , . ; */
    MID_BOTH,   /* joins either: apostrophes */
    EXTEND,     /* belongs to what stands before it */
    DENSE       /* written without spaces: pairs */
};

enum {
    WORD_MAX = 128, /* bytes of a word before folding; NFKC makes at most 18 characters of three bytes */
    FOLDED_MAX = WORD_MAX / 3 * 18 + 4,
    CACHED_WORD = 30,    /* longer words are stemmed each time */
    CACHE_SLOTS = 16384, /* 1 MB: a word is in one of two neighbours */
    MID = 1
};

struct cached { /* one cache line */
    uint8_t word_n, stem_n;
    char word[CACHED_WORD + 1], stem[CACHED_WORD + 1];
};

struct qp_terms {
    struct sb_stemmer *stemmer; /* null: none */
    bool elide;                 /* an apostrophe parts words */
    uint8_t lower[128];         /* ASCII: of letters, digits and "_"; MID: may join two of them; 0: ends a word */
    struct cached *cache;
    uint8_t class_of[0x10000]; /* filled as characters are met */
};

static const struct {
    const char *code, *name; /* name null: no stemmer, words as they are */
} languages[] = {
    {"ar", "arabic"},     {"ca", "catalan"},   {"da", "danish"},     {"de", "german"},    {"el", "greek"},
    {"en", "english"},    {"es", "spanish"},   {"et", "estonian"},   {"eu", "basque"},    {"fi", "finnish"},
    {"fr", "french"},     {"ga", "irish"},     {"hi", "hindi"},      {"hu", "hungarian"}, {"hy", "armenian"},
    {"id", "indonesian"}, {"it", "italian"},   {"lt", "lithuanian"}, {"ne", "nepali"},    {"nl", "dutch"},
    {"no", "norwegian"},  {"nb", "norwegian"}, {"pt", "portuguese"}, {"ro", "romanian"},  {"ru", "russian"},
    {"sr", "serbian"},    {"sv", "swedish"},   {"ta", "tamil"},      {"tr", "turkish"},   {"yi", "yiddish"},
    {"bg", NULL},         {"cs", NULL},        {"fa", NULL},         {"he", NULL},        {"hr", NULL},
    {"ja", NULL},         {"km", NULL},        {"ko", NULL},         {"lo", NULL},        {"my", NULL},
    {"pl", NULL},         {"sk", NULL},        {"sl", NULL},         {"th", NULL},        {"uk", NULL},
    {"ur", NULL},         {"vi", NULL},        {"zh", NULL},         {"none", NULL},
};

qp_code qp_terms_open(const char *language, qp_terms **out, qp_err *err)
{
    const char *wanted = language && *language ? language : "none";
    const char *names[2 * (sizeof languages / sizeof *languages)];
    size_t n = sizeof languages / sizeof *languages, found = n, n_names = 0;
    qp_terms *t;

    for (size_t i = 0; i < n; i++) {
        names[n_names++] = languages[i].code;
        if (languages[i].name)
            names[n_names++] = languages[i].name;
        if (!strcasecmp(wanted, languages[i].code) || (languages[i].name && !strcasecmp(wanted, languages[i].name))) {
            found = i;
            break;
        }
    }
    if (found == n) {
        const char *near = qp_nearest(wanted, names, n_names);
        return qp_fail(err, QP_INPUT, "language '%s' is not known%s%s%s; give a code such as en, de, fr, ko, or none",
                       wanted, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    }
    t = calloc(1, sizeof *t);
    if (!t)
        return qp_oom(err);
    if (languages[found].name) {
        t->stemmer = sb_stemmer_new(languages[found].name, "UTF_8");
        t->cache = aligned_alloc(64, CACHE_SLOTS * sizeof *t->cache);
        if (!t->stemmer || !t->cache) {
            qp_terms_close(t);
            return qp_oom(err);
        }
        memset(t->cache, 0, CACHE_SLOTS * sizeof *t->cache);
    }
    const char *code = languages[found].code;
    t->elide = !strcmp(code, "fr") || !strcmp(code, "it") || !strcmp(code, "ca");
    for (int c = 0; c < 128; c++)
        if (u_isalnum(c) || c == '_')
            t->lower[c] = (uint8_t)u_tolower(c);
        else
            t->lower[c] = strchr("'.,;", c) && c ? MID : 0;
    *out = t;
    return QP_OK;
}

void qp_terms_close(qp_terms *t)
{
    if (!t)
        return;
    if (t->stemmer)
        sb_stemmer_delete(t->stemmer);
    free(t->cache);
    free(t);
}

/* ---- classes ---- */

static bool is_dense(UChar32 c)
{
    UErrorCode status = U_ZERO_ERROR;
    UScriptCode script = uscript_getScript(c, &status);

    return script == USCRIPT_HANGUL || script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA ||
           u_hasBinaryProperty(c, UCHAR_IDEOGRAPHIC) ||
           u_getIntPropertyValue(c, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT;
}

static enum sort look_up(const qp_terms *t, UChar32 c)
{
    if (c >= 0x1160 && c <= 0x11FF) /* Hangul vowels and finals: with their initial they are one character */
        return EXTEND;
    if (c == QP_REPLACEMENT)
        return OTHER;
    switch (u_getIntPropertyValue(c, UCHAR_WORD_BREAK)) {
    case U_WB_EXTEND:
    case U_WB_FORMAT:
    case U_WB_ZWJ: return EXTEND;
    case U_WB_ALETTER:
    case U_WB_HEBREW_LETTER: return is_dense(c) ? DENSE : LETTER;
    case U_WB_KATAKANA: return DENSE;
    case U_WB_NUMERIC: return NUMBER;
    case U_WB_EXTENDNUMLET: return JOINER;
    case U_WB_MIDLETTER: return c == ':' || c == 0xFE55 || c == 0xFF1A ? OTHER : MID_LETTER;
    case U_WB_MIDNUM: return MID_NUMBER;
    case U_WB_MIDNUMLET:
        if (c == 0x2018 || c == 0x2019)
            return t->elide ? OTHER : MID_BOTH;
        return MID_NUMBER; /* full stops */
    case U_WB_SINGLE_QUOTE: return t->elide ? OTHER : MID_BOTH;
    default:
        if (is_dense(c))
            return u_isalnum(c) || u_charType(c) == U_COMBINING_SPACING_MARK ? DENSE : OTHER;
        return u_charType(c) == U_OTHER_NUMBER || u_charType(c) == U_LETTER_NUMBER ? NUMBER : OTHER;
    }
}

static inline enum sort class_at(qp_terms *t, qp_str s, size_t at, size_t *next)
{
    uint32_t c = (unsigned char)s.at[at];

    *next = at + 1;
    if (c >= 0x80) {
        *next = at;
        c = qp_utf8_next(s, next);
        if (c > 0xFFFF)
            return look_up(t, (UChar32)c);
    }
    if (t->class_of[c] == UNKNOWN)
        t->class_of[c] = (uint8_t)look_up(t, (UChar32)c);
    return (enum sort)t->class_of[c];
}

/* Past the characters that belong to what stands before `at`. */
static size_t skip_extend(qp_terms *t, qp_str s, size_t at)
{
    size_t next;

    while (at < s.n && (unsigned char)s.at[at] >= 0x80 && class_at(t, s, at, &next) == EXTEND)
        at = next;
    return at;
}

/* ---- folding and stems ---- */

/* NFKC with case folding, and U+2019 as the apostrophe stemmers know. Marks that fold to white space or nothing are
 * kept out. Returns the bytes written; 0 for what folds to nothing. */
static size_t fold(qp_str word, char out[FOLDED_MAX * 4 + 1])
{
    utf8proc_int32_t *points = (utf8proc_int32_t *)(void *)out;
    utf8proc_ssize_t n =
        utf8proc_decompose((const utf8proc_uint8_t *)word.at, (utf8proc_ssize_t)word.n, points, FOLDED_MAX,
                           UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);

    if (n <= 0 || n > FOLDED_MAX)
        return 0;
    for (utf8proc_ssize_t i = 0; i < n; i++)
        if (points[i] == 0x2018 || points[i] == 0x2019)
            points[i] = '\'';
    n = utf8proc_reencode(points, n, UTF8PROC_COMPOSE);
    return n > 0 ? (size_t)n : 0;
}

static void emit(qp_str term, size_t from, size_t to, qp_term_fn fn, void *ctx)
{
    if (term.n > QP_TERM_MAX)
        term.n = qp_utf8_floor(term, QP_TERM_MAX);
    if (term.n)
        fn(ctx, term, from, to);
}

static inline uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* The stem of a folded word: valid until the next call. `word` is followed by readable zero bytes up to a multiple of
 * eight when it is at most CACHED_WORD long. */
static qp_str stem(qp_terms *t, qp_str word)
{
    struct cached *slot = NULL;

    if (!t->stemmer)
        return word;
    if (word.n <= CACHED_WORD) {
        uint64_t h = word.n, eight;

        for (size_t i = 0; i < word.n; i += 8) {
            memcpy(&eight, word.at + i, 8);
            h = mix(h, eight);
        }
        slot = &t->cache[h % CACHE_SLOTS & ~(uint64_t)1];
        for (int way = 0; way < 2; way++)
            if (slot[way].word_n == word.n && memcmp(slot[way].word, word.at, word.n) == 0)
                return (qp_str){slot[way].stem, slot[way].stem_n};
    }
    const sb_symbol *s = sb_stemmer_stem(t->stemmer, (const sb_symbol *)word.at, (int)word.n);
    if (!s) /* no memory for a longer stem: the word itself will do */
        return word;
    qp_str stemmed = {(const char *)s, (size_t)sb_stemmer_length(t->stemmer)};
    if (slot && stemmed.n <= CACHED_WORD) {
        slot[1] = slot[0]; /* the older of the two goes */
        slot->word_n = (uint8_t)word.n;
        slot->stem_n = (uint8_t)stemmed.n;
        memcpy(slot->word, word.at, word.n);
        memcpy(slot->stem, stemmed.at, stemmed.n);
    }
    return stemmed;
}

static void emit_word(qp_terms *t, qp_str text, size_t from, size_t to, qp_term_fn fn, void *ctx)
{
    _Alignas(8) char folded[FOLDED_MAX * 4 + 8];
    qp_str word = qp_str_slice(text, from, to);
    size_t n;

    if (word.n > WORD_MAX)
        word.n = qp_utf8_floor(word, WORD_MAX);
    n = fold(word, folded);
    memset(folded + n, 0, 8); /* stem() reads eight bytes at a time */
    emit(stem(t, (qp_str){folded, n}), from, to, fn, ctx);
}

/* Nearly all words of nearly all texts: ASCII letters and digits, with nothing after them that could go on. Returns the
 * word's end, or `at` where the general way is needed. */
static inline size_t simple_word(qp_terms *t, qp_str s, size_t at, qp_term_fn fn, void *ctx)
{
    _Alignas(8) char folded[CACHED_WORD + 10];
    const unsigned char *p = (const unsigned char *)s.at + at;
    size_t n = 0, most = s.n - at < CACHED_WORD ? s.n - at : CACHED_WORD;

    while (n < most && p[n] < 0x80 && t->lower[p[n]] > MID) {
        folded[n] = (char)t->lower[p[n]];
        n++;
    }
    if (n == CACHED_WORD || folded[0] == '_')
        return at;
    if (at + n < s.n &&
        (p[n] >= 0x80 || (t->lower[p[n]] == MID && at + n + 1 < s.n && (p[n + 1] >= 0x80 || t->lower[p[n + 1]] > MID))))
        return at;
    memset(folded + n, 0, 8);
    qp_str term = stem(t, (qp_str){folded, n});
    if (term.n)
        fn(ctx, term, at, at + n);
    return at + n;
}

/* ---- cutting ---- */

/* Nearly all characters of dense scripts: three bytes that NFKC and case folding leave as they are. */
static bool is_folded(qp_str s)
{
    if (s.n != 3)
        return false;
    uint32_t c = (uint32_t)(s.at[0] & 0x0F) << 12 | (uint32_t)(s.at[1] & 0x3F) << 6 | (s.at[2] & 0x3F);
    return (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3041 && c <= 0x3096) ||
           (c >= 0x30A1 && c <= 0x30FA);
}

/* A run of dense script from `at`: pairs of characters, or the one there is. Returns its end. */
static size_t each_pair(qp_terms *t, qp_str s, size_t at, qp_term_fn fn, void *ctx)
{
    _Alignas(4) char one[FOLDED_MAX * 4 + 1];
    char pair[2 * QP_TERM_MAX];
    size_t next, n = 0, n_run = 0, before = at; /* n: bytes of the character before, which began at `before` */

    while (at < s.n && class_at(t, s, at, &next) == DENSE) {
        size_t end = skip_extend(t, s, next);
        qp_str character = qp_str_slice(s, at, end);
        size_t m;

        if (character.n > WORD_MAX)
            character.n = qp_utf8_floor(character, WORD_MAX);
        if (is_folded(character))
            memcpy(one, character.at, m = 3);
        else
            m = fold(character, one);
        m = qp_utf8_floor((qp_str){one, m}, m > QP_TERM_MAX / 2 ? QP_TERM_MAX / 2 : m);
        memcpy(pair + n, one, m);
        if (n_run++)
            emit((qp_str){pair, n + m}, before, end, fn, ctx);
        memmove(pair, pair + n, m);
        n = m;
        before = at;
        at = end;
    }
    if (n_run == 1)
        emit((qp_str){pair, n}, before, at, fn, ctx);
    return at;
}

/* The end of the word that begins at `at` with a letter, number or joiner. UAX #29: WB5 to WB13b, with WB4's extending
 * characters skipped. *word: it holds more than joiners. */
static size_t word_end(qp_terms *t, qp_str s, size_t at, bool *word)
{
    enum sort last = OTHER;

    *word = false;
    while (at < s.n) {
        size_t next, after;
        enum sort c = class_at(t, s, at, &next);

        if (c == LETTER || c == NUMBER || c == JOINER) {
            *word |= c != JOINER;
            last = c;
            at = skip_extend(t, s, next);
            continue;
        }
        next = skip_extend(t, s, next);
        if (next >= s.n || (last != LETTER && last != NUMBER))
            break;
        if ((c == MID_LETTER || c == MID_BOTH) && last == LETTER && class_at(t, s, next, &after) == LETTER)
            at = next;
        else if ((c == MID_NUMBER || c == MID_BOTH) && last == NUMBER && class_at(t, s, next, &after) == NUMBER)
            at = next;
        else
            break;
    }
    return at;
}

void qp_terms_each(qp_terms *t, qp_str s, qp_term_fn fn, void *ctx)
{
    size_t at = 0;

    while (at < s.n) {
        unsigned char c = (unsigned char)s.at[at];
        size_t next;
        bool word;

        if (c < 0x80) {
            if (t->lower[c] <= MID) {
                at++;
                continue;
            }
            next = simple_word(t, s, at, fn, ctx);
            if (next > at) {
                at = next;
                continue;
            }
        }
        switch (class_at(t, s, at, &next)) {
        case DENSE: at = each_pair(t, s, at, fn, ctx); break;
        case LETTER:
        case NUMBER:
        case JOINER:
            next = word_end(t, s, at, &word);
            if (word)
                emit_word(t, s, at, next, fn, ctx);
            at = next;
            break;
        default: at = next;
        }
    }
}
