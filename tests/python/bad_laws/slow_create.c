/* Sleeps for an hour when it is created. */
#include <unistd.h>

#include "one_law.h"

static int32_t create(void *state, void *facts) {
  (void)state;
  (void)facts;
  sleep(3600);
  return 0;
}

static int32_t enqueue(void *state, void *facts) {
  (void)state;
  (void)facts;
  return FOREBAY_PASS;
}

ONE_LAW(FOREBAY_QUEUE, "slow_create", 0, .create = create,
        .decide = {[FOREBAY_ENQUEUE] = enqueue})
