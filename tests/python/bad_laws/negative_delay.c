/* Has packets arrive before they were sent. */
#include "one_law.h"

static int32_t passage(void *state, void *facts) {
  forebay_impairment_facts *at = facts;
  (void)state;
  at->delay = -1;
  return FOREBAY_DELAYED;
}

ONE_LAW(FOREBAY_IMPAIRMENT, "negative_delay", 0, .decide = {[FOREBAY_PASSAGE] = passage})
