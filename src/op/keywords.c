#include "op/keywords.h"

#include "op/ops.h"
#include "op/prompt.h"

static const char grammar[] = "root ::= \"high: \" words \"\\nlow: \" words\n"
                              "words ::= word (\", \" word){0,9}\n"
                              "word ::= [^,:\\n] [^,\\n]{0,59}\n";

/* What stands behind the label on the line that begins with it; a writer without grammars may write other lines,
 * too. */
static qp_str level(qp_str said, qp_str label, qp_str otherwise)
{
    for (qp_str rest = said; rest.at && rest.n;) {
        qp_str line = qp_str_trim(qp_str_split(rest, '\n', &rest));
        qp_str words = qp_str_starts(line, label) ? qp_str_trim(qp_str_slice(line, label.n, line.n)) : (qp_str){0};
        if (words.n)
            return words;
    }
    return otherwise;
}

qp_keywords qp_keywords_of(qp_query *q, const char *prompt)
{
    qp_str said = {0};
    if (q->writer && q->err.code == QP_OK) {
        qp_str text = qp_prompt(q, prompt, "keywords.txt", &(qp_field){"question", q->text}, 1);
        if (q->err.code == QP_OK)
            said = qp_write(q, text, (qp_sampling){.max_tokens = 256, .grammar = grammar});
    }
    return (qp_keywords){level(said, QP_STR("high:"), q->text), level(said, QP_STR("low:"), q->text)};
}

qp_set qp_search_for(qp_query *q, qp_str words, const char *index, uint32_t k)
{
    qp_str text = q->text;
    const float *vector = q->vector;
    bool same = qp_str_eq(words, text);
    if (same)
        return qp_search(q, index, k);
    q->text = words;
    q->vector = NULL;
    qp_set found = qp_search(q, index, k);
    q->text = text;
    q->vector = vector;
    return found;
}
