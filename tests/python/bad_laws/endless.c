/* Does not return from a decision. */
#include "one_law.h"

static int32_t enqueue(void *state, void *facts) {
  volatile int64_t round = 0;
  (void)state;
  (void)facts;
  while (round >= 0) round++;
  return FOREBAY_PASS;
}

ONE_LAW(FOREBAY_QUEUE, "endless", 0, .decide = {[FOREBAY_ENQUEUE] = enqueue})
