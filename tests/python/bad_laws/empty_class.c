/* Serves a class that has no packet. */
#include "one_law.h"

static int32_t select(void *state, void *facts) {
  (void)state;
  (void)facts;
  return 0;
}

ONE_LAW(FOREBAY_SCHEDULER, "empty_class", 0, .decide = {[FOREBAY_SELECT] = select})
