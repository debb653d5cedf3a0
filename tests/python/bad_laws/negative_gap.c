/* Sends the next burst before the one that it has sent. */
#include "one_law.h"

static int32_t describe(void *state, void *facts) {
  forebay_traffic_facts *at = facts;
  (void)state;
  at->largest = 1000;
  at->mean_rate = 1000000;
  return 0;
}

static int32_t next(void *state, void *facts) {
  forebay_traffic_facts *at = facts;
  (void)state;
  at->gap = -1000;
  at->bytes = 1000;
  return 1;
}

ONE_LAW(FOREBAY_TRAFFIC, "negative_gap", 0,
        .decide = {[FOREBAY_NEXT] = next, [FOREBAY_DESCRIBE] = describe})
