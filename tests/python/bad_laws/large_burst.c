/* Sends more at once than it has said. */
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
  at->gap = 1000000000;
  at->bytes = 1500;
  return 1;
}

ONE_LAW(FOREBAY_TRAFFIC, "large_burst", 0,
        .decide = {[FOREBAY_NEXT] = next, [FOREBAY_DESCRIBE] = describe})
