/* CoDel (RFC 8289) in C, for Forebay:
 *
 *     cc -O2 -ffp-contract=off -shared -fPIC -I$(forebay --include) codel.c -o codel.so -lm
 *     forebay run network.toml --laws codel.so
 *
 * The engine keeps the packets, and asks of each at the head of the queue, until one passes. */
#include "forebay_law.h"
#include <math.h>

typedef struct {
  int64_t target, interval, mtu, ecn; /* the parameters, in their order */
  int64_t above;                      /* first_above_time; never while the sojourn time is below */
  int64_t next_drop, count, at_entry, dropping, entering;
} codel;

static const forebay_host *host;

static int64_t later(int64_t from, int64_t span) {
  return span > FOREBAY_NEVER - from ? FOREBAY_NEVER : from + span;
}

/* The time of the drop after one at `from`: drops come closer with the root of their number. */
static int64_t next_after(const codel *law, int64_t from) {
  double span = (double)law->interval * (1.0 / sqrt((double)law->count)) + 0.5;
  return later(from, span < 9e18 ? (int64_t)span : FOREBAY_NEVER);
}

static int32_t create(void *state, void *facts) {
  codel *law = state;
  law->above = FOREBAY_NEVER;
  if (law->interval > 0) return 0;
  host->fail(facts, "interval", "is zero; allowed is any time above 0 s");
  return -1;
}

static int32_t dequeue(void *state, void *facts) {
  codel *law = state;
  const forebay_queue_facts *at = facts;
  int over = !at->empty && at->sojourn >= law->target && at->waiting_bytes > law->mtu;
  if (!over)
    law->above = FOREBAY_NEVER;
  else if (law->above == FOREBAY_NEVER)
    law->above = later(at->now, law->interval);
  int late = over && at->now >= law->above;
  int marks = law->ecn && at->ecn != 0;
  if (law->entering) { /* the head behind the first drop leaves, however long it waited */
    law->entering = 0;
    return FOREBAY_PASS;
  }
  if (!law->dropping) {
    if (!late) return FOREBAY_PASS;
    int64_t before = law->count - law->at_entry;
    int soon = (at->now - law->next_drop) / 16 < law->interval;
    law->count = law->at_entry = before > 1 && soon ? before : 1;
    law->next_drop = next_after(law, at->now);
    law->dropping = 1;
    law->entering = !marks;
    return marks ? FOREBAY_MARK : FOREBAY_DROP_FORCED;
  }
  if (at->round > 0 && late) law->next_drop = next_after(law, law->next_drop);
  if (late && at->now >= law->next_drop) {
    law->count += 1;
    if (!marks) return FOREBAY_DROP_FORCED;
    law->next_drop = next_after(law, law->next_drop);
    return FOREBAY_MARK;
  }
  law->dropping = late;
  return FOREBAY_PASS;
}

#define PARAMETER(kind, key, value, what) \
  {.size = sizeof(forebay_parameter), .type = kind, .name = key, .default_value = value, \
   .meaning = what, .source = "RFC 8289, section 5"}

static const forebay_parameter parameters[] = {
  PARAMETER(FOREBAY_SPAN, "target", "\"5 ms\"", "Sojourn time that a standing queue may have."),
  PARAMETER(FOREBAY_SPAN, "interval", "\"100 ms\"", "Time above the target to the first drop."),
  PARAMETER(FOREBAY_SIZE, "mtu", "\"1500 B\"", "The largest packet: one may always wait."),
  PARAMETER(FOREBAY_BOOL, "ecn", "false", "Mark ECN-capable packets instead of dropping them."),
};

static const forebay_probe probes[] = {
  {sizeof(forebay_probe), FOREBAY_INT64, offsetof(codel, count), "drop_count", "1",
   "Drops or marks since the dropping state was entered, as they count."},
};

static const forebay_law law = {
  .size = sizeof(forebay_law), .kind = FOREBAY_QUEUE, .state_bytes = sizeof(codel),
  .name = "c_codel", .summary = "Controlled delay, in C.", .source = "RFC 8289",
  .example = "interval = \"40 ms\"\necn = true\nlimit = \"12 packets\"",
  .parameters = parameters, .parameter_count = sizeof parameters / sizeof *parameters,
  .probes = probes, .probe_count = sizeof probes / sizeof *probes,
  .create = create, .decide = {[FOREBAY_DEQUEUE] = dequeue},
};

const forebay_laws *forebay_laws_v1(const forebay_host *of) {
  static const forebay_law *const all[] = {&law};
  static const forebay_laws table = {sizeof table, FOREBAY_LAWS_VERSION, 1, all};
  host = of;
  return &table;
}
