/* Paces at an infinite rate. */
#include <math.h>

#include "one_law.h"

static int32_t acknowledged(void *state, void *facts) {
  forebay_control_facts *at = facts;
  (void)state;
  at->pacing_rate = INFINITY;
  return 0;
}

ONE_LAW(FOREBAY_CONTROL, "infinite_rate", 0, .decide = {[FOREBAY_ACKNOWLEDGED] = acknowledged})
