/* Has none to send until a time that has passed. */
#include "one_law.h"

static int32_t dequeue(void *state, void *facts) {
  (void)state;
  (void)facts;
  return FOREBAY_NONE;
}

static int32_t ready_at(void *state, void *facts) {
  forebay_queue_facts *at = facts;
  (void)state;
  at->time = at->now - 1;
  return 0;
}

ONE_LAW(FOREBAY_DISCIPLINE, "ready_in_the_past", 0, .flags = FOREBAY_SHAPES,
        .decide = {[FOREBAY_DEQUEUE] = dequeue, [FOREBAY_READY_AT] = ready_at})
