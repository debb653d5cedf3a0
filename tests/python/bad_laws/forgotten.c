/* Has forgotten the packets that wait. */
#include "one_law.h"

static int32_t dequeue(void *state, void *facts) {
  (void)state;
  (void)facts;
  return FOREBAY_NONE;
}

ONE_LAW(FOREBAY_DISCIPLINE, "forgotten", 0, .decide = {[FOREBAY_DEQUEUE] = dequeue})
