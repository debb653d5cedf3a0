/* Sends the packet again that it has sent last. */
#include "one_law.h"

static int32_t enqueue(void *state, void *facts) {
  int64_t *last = state;
  forebay_queue_facts *at = facts;
  if (*last == 0) *last = at->handle + 1;
  return FOREBAY_PASS;
}

static int32_t dequeue(void *state, void *facts) {
  int64_t *last = state;
  forebay_queue_facts *at = facts;
  if (at->waiting_packets == 0) return FOREBAY_NONE;
  at->handle = *last - 1;
  return FOREBAY_SEND;
}

ONE_LAW(FOREBAY_DISCIPLINE, "handle_twice", 8,
        .decide = {[FOREBAY_ENQUEUE] = enqueue, [FOREBAY_DEQUEUE] = dequeue})
