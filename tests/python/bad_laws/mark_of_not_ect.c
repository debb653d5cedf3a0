/* Marks packets whose senders do not know of ECN. */
#include "one_law.h"

static int32_t enqueue(void *state, void *facts) {
  (void)state;
  (void)facts;
  return FOREBAY_MARK;
}

ONE_LAW(FOREBAY_QUEUE, "mark_of_not_ect", 0, .decide = {[FOREBAY_ENQUEUE] = enqueue})
