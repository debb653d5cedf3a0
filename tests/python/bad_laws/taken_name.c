/* Has the name of one of Forebay's queues. */
#include "one_law.h"

static int32_t enqueue(void *state, void *facts) {
  (void)state;
  (void)facts;
  return FOREBAY_PASS;
}

ONE_LAW(FOREBAY_QUEUE, "codel", 0, .decide = {[FOREBAY_ENQUEUE] = enqueue})
