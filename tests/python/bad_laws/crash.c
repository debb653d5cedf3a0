/* Reads from nowhere, if it is asked to. */
#include "one_law.h"

static int32_t enqueue(void *state, void *facts) {
  int64_t *crash = state;
  int32_t *volatile nowhere = 0;
  (void)facts;
  return *crash ? *nowhere : FOREBAY_PASS;
}

static const forebay_parameter parameters[] = {
    {sizeof(forebay_parameter), FOREBAY_BOOL, 0, 0, "crash", "True to crash.", "tests", "false", 0}};

ONE_LAW(FOREBAY_QUEUE, "crash", 8, .parameters = parameters, .parameter_count = 1,
        .decide = {[FOREBAY_ENQUEUE] = enqueue})
