/* Sends a packet that it was never handed. */
#include "one_law.h"

static int32_t dequeue(void *state, void *facts) {
  forebay_queue_facts *at = facts;
  (void)state;
  if (at->waiting_packets == 0) return FOREBAY_NONE;
  at->handle = 99;
  return FOREBAY_SEND;
}

ONE_LAW(FOREBAY_DISCIPLINE, "unknown_handle", 0, .decide = {[FOREBAY_DEQUEUE] = dequeue})
