/* Drops the packet that arrives as if it waited already. */
#include "forebay_law.h"

static const forebay_host *host;

static int32_t enqueue(void *state, void *facts) {
  forebay_queue_facts *at = facts;
  (void)state;
  host->drop(at, at->handle, FOREBAY_DROP_FORCED);
  return FOREBAY_PASS;
}

static int32_t dequeue(void *state, void *facts) {
  (void)state;
  (void)facts;
  return FOREBAY_NONE;
}

static const forebay_law the_law = {
    .size = sizeof(forebay_law),
    .kind = FOREBAY_DISCIPLINE,
    .name = "drops_the_arriving",
    .summary = "A bad law.",
    .source = "tests",
    .example = "",
    .decide = {[FOREBAY_ENQUEUE] = enqueue, [FOREBAY_DEQUEUE] = dequeue}};
static const forebay_law *const the_laws[] = {&the_law};
static const forebay_laws the_table = {sizeof(forebay_laws), FOREBAY_LAWS_VERSION, 1, the_laws};

const forebay_laws *forebay_laws_v1(const forebay_host *given) {
  host = given;
  return &the_table;
}
