/* Has a law of 8 B. */
#include "forebay_law.h"

static const forebay_law the_law = {.size = 8, .kind = FOREBAY_QUEUE, .name = "wrong_size"};
static const forebay_law *const the_laws[] = {&the_law};
static const forebay_laws the_table = {sizeof(forebay_laws), FOREBAY_LAWS_VERSION, 1, the_laws};

const forebay_laws *forebay_laws_v1(const forebay_host *host) {
  (void)host;
  return &the_table;
}
