/* Serves a class that there is not. */
#include "one_law.h"

static int32_t select(void *state, void *facts) {
  (void)state;
  (void)facts;
  return 64;
}

ONE_LAW(FOREBAY_SCHEDULER, "class_out_of_range", 0, .decide = {[FOREBAY_SELECT] = select})
