/* Writes a precedence that does not fit into the field. */
#include "one_law.h"

static int32_t condition(void *state, void *facts) {
  forebay_conditioner_facts *at = facts;
  (void)state;
  at->precedence = 64;
  return FOREBAY_PASS;
}

ONE_LAW(FOREBAY_CONDITIONER, "colour_64", 0, .decide = {[FOREBAY_CONDITION] = condition})
