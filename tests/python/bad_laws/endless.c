/* Does not return from a decision, if it is asked to. */
#include "one_law.h"

static int32_t enqueue(void *state, void *facts) {
  int64_t *loop = state;
  volatile int64_t round = 0;
  (void)facts;
  while (*loop && round >= 0) round++;
  return FOREBAY_PASS;
}

static const forebay_parameter parameters[] = {
    {sizeof(forebay_parameter), FOREBAY_BOOL, 0, 0, "loop", "True to loop.", "tests", "true", 0}};

ONE_LAW(FOREBAY_QUEUE, "endless", 8, .parameters = parameters, .parameter_count = 1,
        .decide = {[FOREBAY_ENQUEUE] = enqueue})
