#include "answer/answer.h"

#include "answer/compose.h"
#include "answer/extract.h"
#include "answer/facts.h"
#include "answer/from_graph.h"
#include "answer/from_paths.h"
#include "answer/source.h"
#include "base/err.h"

enum { CONTEXT = 1024, LONGEST = 256 };

qp_code qp_answer_make(qp_query *q, qp_set evidence, const qp_answer_options *options, qp_answer *answer, qp_err *err)
{
    qp_answer_options o = *options;
    if (!o.context_tokens)
        o.context_tokens = CONTEXT;
    if (!o.answer_tokens)
        o.answer_tokens = LONGEST;
    bool passages = qp_has_passages(q, evidence);
    if ((evidence.paths.n && !passages) || q->answer.n)
        return qp_answer_from_paths(q, evidence, &o, answer, err);
    bool extract = o.extract || !q->writer || !q->writer->generate;
    if (!extract && q->extracted.nodes.n && !passages)
        return qp_answer_from_graph(q, evidence, &o, answer, err);
    qp_sources sources = {0};
    qp_str facts = extract ? (qp_str){"", 0} : qp_facts(q, evidence, o.context_tokens / 4, q->writer);
    if (facts.n)
        o.context_tokens -= o.context_tokens / 4;
    qp_code code = qp_sources_take(q, evidence, o.context_tokens, extract ? q->embedder : q->writer, &sources, err);
    sources.facts = facts;
    if (code || q->err.code)
        return code ? code : qp_fail(err, q->err.code, "%s", q->err.message);
    return extract ? qp_answer_extract(q, &sources, answer, err) : qp_answer_compose(q, &sources, &o, answer, err);
}
