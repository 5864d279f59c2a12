#include "text/stop.h"

#include <stdlib.h>

/* In byte order. clang-format would set it in columns. */
/* clang-format off */
static const char *const words[] = {
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "could", "did", "do",
    "does", "doing", "down", "during", "each", "few", "for", "from", "further", "had", "has", "have", "having", "he",
    "her", "here", "hers", "herself", "him", "himself", "his", "how", "i", "if", "in", "into", "is", "it", "its",
    "itself", "may", "me", "might", "more", "most", "must", "my", "myself", "no", "nor", "not", "of", "off", "on",
    "once", "only", "or", "other", "ought", "our", "ours", "ourselves", "out", "over", "own", "s", "same", "shall",
    "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "theirs", "them", "themselves",
    "then", "there", "these", "they", "this", "those", "through", "to", "too", "under", "until", "up", "very", "was",
    "we", "were", "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would",
    "you", "your", "yours", "yourself", "yourselves",
};
/* clang-format on */

static int order(const void *key, const void *word)
{
    return strcmp(key, *(const char *const *)word);
}

bool qp_is_stop_word(qp_str word)
{
    enum { LONGEST = 16 };
    char low[LONGEST];
    if (word.n >= LONGEST)
        return false;
    for (size_t i = 0; i < word.n; i++)
        low[i] = word.at[i] >= 'A' && word.at[i] <= 'Z' ? (char)(word.at[i] + 32) : word.at[i];
    low[word.n] = 0;
    return bsearch(low, words, sizeof words / sizeof *words, sizeof *words, order) != NULL;
}
