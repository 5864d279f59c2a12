/* Messages to tokens, by the chat template of the model's file. */
#ifndef QP_MODEL_PROMPT_H
#define QP_MODEL_PROMPT_H

#include "model/llama_model.h"

/* What stands in a message is read as plain text, so a passage that spells "<|im_end|>" stays a passage. A file without
 * a template gets the messages, a blank line between them; one whose template llama.cpp does not know gets ChatML. */
qp_code qp_prompt_tokens(const qp_llama *, const qp_message *, uint32_t n, qp_ids *, qp_err *);

#endif
