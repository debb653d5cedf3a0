/* Cases for tests: `cases NAME` does one of them, and prints what came of it. */
#include "forebay_host.h"
#include <stdio.h>
#include <string.h>

static const char *const LINE = "name = \"line\"\n"
                                "duration = \"1 s\"\n"
                                "[record]\n"
                                "series = \"10 ms\"\n"
                                "[links.line]\n"
                                "from = \"a\"\n"
                                "to = \"b\"\n"
                                "rate = \"8 Mbit/s\"\n"
                                "delay = \"10 ms\"\n"
                                "[links.other]\n"
                                "from = \"c\"\n"
                                "to = \"b\"\n"
                                "rate = \"8 Mbit/s\"\n"
                                "delay = \"10 ms\"\n";

/* A side: the one that has a peer sends a datagram at 50 ms, and waits until 70 ms. */
typedef struct {
  const char *name;
  forebay_address peer;
  int sends;
  size_t sent, received;
  int32_t progress;
} side;

static int is(const side *own, const char *name) { return strcmp(own->name, name) == 0; }

static void receive(void *stack, uint64_t now_ps, const forebay_datagram *datagram) {
  side *own = stack;
  own->received += datagram->length;
  if (is(own, "features"))
    printf("arrived at %.4f s: %u B, ECN %u, DSCP %u, from %u.%u.%u.%u:%u\n", forebay_s(now_ps),
           (unsigned)datagram->length, datagram->ecn, datagram->dscp, datagram->from.ip[0],
           datagram->from.ip[1], datagram->from.ip[2], datagram->from.ip[3], datagram->from.port);
}

static size_t transmit(void *stack, uint64_t now_ps, uint8_t *buffer, size_t capacity,
                       forebay_transmit *out) {
  static unsigned calls;
  side *own = stack;
  if (!own->sends || now_ps < forebay_from_ms(50)) return 0;
  if (own->sent > 0 && !is(own, "endless")) return 0;
  own->sent++;
  memset(buffer, 0x5a, capacity);
  out->to = own->peer;
  out->ecn = is(own, "ecn") ? 4 : FOREBAY_ECT_1;
  if (!is(own, "flow")) out->dscp = is(own, "dscp") ? 64 : 46;
  if (is(own, "stop")) forebay_stop("no such stream: 7");
  if (is(own, "differs")) return 100 + ++calls;
  return is(own, "long") ? capacity + 1 : capacity;
}

static uint64_t timeout(void *stack) {
  const side *own = stack;
  return own->sends && own->sent == 0 ? forebay_from_ms(50) : FOREBAY_NO_TIME;
}

static void wake(void *stack, uint64_t now_ps) { (void)stack, (void)now_ps; }

static void moved(void *stack, uint64_t now_ps, forebay_address local) {
  (void)stack;
  printf("moved at %.4f s to %u.%u.%u.%u\n", forebay_s(now_ps), local.ip[0], local.ip[1],
         local.ip[2], local.ip[3]);
}

static int32_t advance(void *stack, uint64_t now_ps, forebay_progress *out) {
  side *own = stack;
  if (is(own, "code")) return 5;
  if (!own->sends) return own->received > 0 ? FOREBAY_FINISHED : FOREBAY_WAITING;
  if (now_ps >= forebay_from_ms(70)) {
    out->reason = "the peer is silent";
    return FOREBAY_FAILED;
  }
  out->until_ps = forebay_from_ms(70);
  return FOREBAY_UNTIL;
}

static uint64_t delivered(const void *stack) { return ((const side *)stack)->received; }

static void probes(const void *stack, forebay_visit *visit, void *to) {
  visit(to, "sent_so_far", (double)((const side *)stack)->sent);
}

static void figures(const void *stack, forebay_visit *visit, void *to) {
  visit(to, "own", 10.0 + (double)((const side *)stack)->sent);
}

static forebay_endpoint calls = {sizeof(forebay_endpoint), receive, transmit, timeout, wake, moved,
                                 advance, delivered, probes, figures};
static side sides[2];
static uint32_t hosts[2];

/* The two sides on the line, of which the first sends. */
static forebay_network *network(void *name) {
  forebay_network *net = forebay_network_from_toml(LINE);
  memset(sides, 0, sizeof sides);
  sides[0].name = sides[1].name = (const char *)name;
  sides[0].sends = 1;
  hosts[1] = forebay_network_reserve(net, "b");
  hosts[0] = forebay_network_attach(net, "a", &calls, &sides[0]);
  if (strcmp((const char *)name, "empty") != 0)
    forebay_network_put(net, hosts[1], &calls, &sides[1]);
  sides[0].peer = forebay_network_address(net, hosts[1]);
  return net;
}

/* Have something that is wrong be asked of the network. */
static void spoil(const char *name, forebay_network *net) {
  forebay_endpoint wrong = calls;
  if (strcmp(name, "size") == 0) wrong.size = 8;
  if (strcmp(name, "receive") == 0) wrong.receive = NULL;
  if (strcmp(name, "wake") == 0) wrong.wake = NULL;
  if (memcmp(&wrong, &calls, sizeof calls) != 0)
    forebay_network_put(net, hosts[0], &wrong, &sides[0]);
  if (strcmp(name, "calls") == 0) forebay_network_put(net, hosts[0], NULL, NULL);
  if (strcmp(name, "host") == 0) forebay_network_start_at(net, 2, 0);
  if (strcmp(name, "set") == 0) forebay_network_set(net, "durations=2 s");
  if (strcmp(name, "text") == 0) forebay_network_set(net, "name=\xff");
  if (strcmp(name, "null") == 0) forebay_network_capture(net, NULL);
  /* What comes after the first thing that is wrong does nothing. */
  if (strcmp(name, "host") == 0) forebay_network_start_at(net, 3, 0);
}

static void features(forebay_network *net, forebay_report *report) {
  const forebay_host_report *one = forebay_report_host(report, hosts[0]);
  const forebay_host_report *other = forebay_report_host(report, hosts[1]);
  size_t length, at, rows = 0;
  const double *times = forebay_report_column(report, "series/flows.a-b", "time_s", &rows);
  const double *sent = forebay_report_column(report, "series/flows.a-b", "sent_so_far", &rows);
  const uint8_t *file = forebay_report_capture(report, "line", &length);
  (void)net;
  printf("%s sent %u, %u B; failed at %.4f s: %s\n", one->name, (unsigned)one->sent,
         (unsigned)one->sent_bytes, one->failed_s, one->failure);
  printf("%s received %u, %u B; finished at %.4f s with %.1f bit/s\n", other->name,
         (unsigned)other->received, (unsigned)other->received_bytes, other->finished_s,
         other->goodput_bps);
  printf("figure %.1f, delivered %.0f\n", forebay_report_value(report, "hosts/a/figures/own"),
         forebay_report_value(report, "hosts/0/delivered"));
  for (at = 0; times && sent && at < rows; at++)
    if (times[at] > 0.035 && times[at] < 0.065) printf("%.2f s: %.0f sent\n", times[at], sent[at]);
  printf("capture: %02x%02x%02x%02x\n", file[0], file[1], file[2], file[3]);
  printf("value: %f\n", forebay_report_value(report, "hosts/a/figures/owm"));
  printf("error: %s\n", forebay_error());
  printf("column: %d\n", forebay_report_column(report, "serie", "x", &length) != NULL);
  printf("error: %s\n", forebay_error());
  printf("host: %d\n", forebay_report_host(report, 9) != NULL);
  printf("error: %s\n", forebay_error());
}

int main(int count, char **arguments) {
  char *name = count > 1 ? arguments[1] : arguments[0];
  int twice = strcmp(name, "differs") == 0 || strcmp(name, "twice") == 0;
  forebay_network *net = NULL;
  forebay_report *report;
  if (twice)
    report = forebay_run_twice(network, name);
  else {
    if (strcmp(name, "nothing") != 0) net = network(name);
    spoil(name, net);
    if (strcmp(name, "features") == 0) {
      forebay_address next = forebay_network_move_host(net, hosts[0], "c", forebay_from_ms(60));
      forebay_network_connect(net, hosts[0], hosts[1]);
      forebay_network_seed(net, 3);
      forebay_network_replication(net, 2);
      forebay_network_capture(net, "line");
      printf("moves to %u.%u.%u.%u\n", next.ip[0], next.ip[1], next.ip[2], next.ip[3]);
    }
    if (strcmp(name, "late") == 0) forebay_network_start_at(net, hosts[0], forebay_from_ms(80));
    report = forebay_run(net);
  }
  if (!report)
    printf("error: %s\n", forebay_error());
  else if (strcmp(name, "features") == 0)
    features(net, report);
  else
    printf("finished at %.4f s\n", forebay_report_host(report, hosts[1])->finished_s);
  if (strcmp(name, "again") == 0 && !forebay_run(net)) printf("error: %s\n", forebay_error());
  forebay_report_free(report);
  forebay_network_free(net);
  return 0;
}
