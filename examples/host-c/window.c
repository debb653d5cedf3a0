/* A sliding window with retransmission, on networks of Forebay:
 *
 *     cc -O2 window.c -lforebay_host_c -o window
 *     ./window bufferbloat 64
 *
 * A sender has at most that many numbered datagrams without an answer. The receiver answers each;
 * one that is not answered within a second is sent again. */
#include "forebay_host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 4096, NUMBER = 8, DATA = FOREBAY_MAX_DATAGRAM };

/* RFC 6298, section 2.4: a time-out should not be shorter than a second. */
static uint64_t timeout_ps(void) { return forebay_from_ms(1000); }

static void write_number(uint8_t *bytes, uint64_t number) {
  for (int i = 0; i < NUMBER; i++) bytes[i] = (uint8_t)(number >> (8 * (NUMBER - 1 - i)));
}

static uint64_t read_number(const forebay_datagram *datagram) {
  uint64_t number = 0;
  if (datagram->length < NUMBER) {
    forebay_stop("a datagram is too short for its number");
    return 0;
  }
  for (int i = 0; i < NUMBER; i++) number = number << 8 | datagram->bytes[i];
  return number;
}

/* ---- the side that sends ---- */

typedef struct {
  forebay_address peer;
  uint64_t window, first, next; /* `first` is the lowest number without an answer */
  uint64_t due_ps[LARGEST];     /* when each of the window is sent again; 0: it was answered */
  uint64_t resent;
} sender;

static void sender_receive(void *stack, uint64_t now_ps, const forebay_datagram *datagram) {
  sender *own = stack;
  uint64_t number = read_number(datagram);
  (void)now_ps;
  if (number < own->first || number >= own->next) return; /* it was answered before */
  own->due_ps[number % LARGEST] = 0;
  while (own->first < own->next && own->due_ps[own->first % LARGEST] == 0) own->first++;
}

static size_t sender_transmit(void *stack, uint64_t now_ps, uint8_t *buffer, size_t capacity,
                              forebay_transmit *out) {
  sender *own = stack;
  uint64_t number = own->first;
  while (number < own->next) {
    uint64_t due = own->due_ps[number % LARGEST];
    if (due != 0 && due <= now_ps) break;
    number++;
  }
  if (number < own->next)
    own->resent++;
  else if (own->next < own->first + own->window)
    own->next++;
  else
    return 0;
  own->due_ps[number % LARGEST] = now_ps + timeout_ps();
  memset(buffer, 0, capacity);
  write_number(buffer, number);
  out->to = own->peer;
  return DATA;
}

static uint64_t sender_timeout(void *stack) {
  const sender *own = stack;
  uint64_t next = FOREBAY_NO_TIME;
  for (uint64_t number = own->first; number < own->next; number++) {
    uint64_t due = own->due_ps[number % LARGEST];
    if (due != 0 && due < next) next = due;
  }
  return next;
}

/* It is asked to transmit next, and finds what is due. */
static void sender_wake(void *stack, uint64_t now_ps) { (void)stack, (void)now_ps; }

static void sender_probes(const void *stack, forebay_visit *visit, void *to) {
  const sender *own = stack;
  visit(to, "outstanding", (double)(own->next - own->first));
}

static void sender_figures(const void *stack, forebay_visit *visit, void *to) {
  visit(to, "resent", (double)((const sender *)stack)->resent);
}

static const forebay_endpoint sender_calls = {
  .size = sizeof(forebay_endpoint), .receive = sender_receive, .transmit = sender_transmit,
  .timeout = sender_timeout, .wake = sender_wake, .probes = sender_probes,
  .figures = sender_figures,
};

/* ---- the side that receives ---- */

typedef struct {
  forebay_address peer;
  uint64_t answer, first; /* `first` is the lowest number that has not arrived */
  int answers;
  uint8_t arrived[LARGEST];
  uint64_t delivered;
} receiver;

static void receiver_receive(void *stack, uint64_t now_ps, const forebay_datagram *datagram) {
  receiver *own = stack;
  (void)now_ps;
  own->peer = datagram->from;
  own->answer = read_number(datagram);
  own->answers = 1; /* it is asked to transmit before the next arrives */
  if (own->answer < own->first || own->arrived[own->answer % LARGEST]) return;
  own->arrived[own->answer % LARGEST] = 1;
  own->delivered += datagram->length;
  while (own->arrived[own->first % LARGEST]) own->arrived[own->first++ % LARGEST] = 0;
}

static size_t receiver_transmit(void *stack, uint64_t now_ps, uint8_t *buffer, size_t capacity,
                                forebay_transmit *out) {
  receiver *own = stack;
  (void)now_ps, (void)capacity;
  if (!own->answers) return 0;
  own->answers = 0;
  write_number(buffer, own->answer);
  out->to = own->peer;
  return NUMBER;
}

static uint64_t receiver_delivered(const void *stack) {
  return ((const receiver *)stack)->delivered;
}

static const forebay_endpoint receiver_calls = {
  .size = sizeof(forebay_endpoint), .receive = receiver_receive, .transmit = receiver_transmit,
  .delivered = receiver_delivered,
};

/* ---- a run ---- */

int main(int count, char **arguments) {
  static sender from;
  static receiver to;
  const char *name = count > 1 ? arguments[1] : "bufferbloat";
  long window = count > 2 ? strtol(arguments[2], NULL, 10) : 64;
  if (window < 1 || window > LARGEST) {
    fprintf(stderr, "error: window: read %s; allowed are 1 to %d\n", arguments[2], LARGEST);
    return 2;
  }
  forebay_network *net =
    strchr(name, '.') ? forebay_network_from_file(name) : forebay_network_ready(name);
  uint32_t client = forebay_network_attach(net, "client", &receiver_calls, &to);
  from.peer = forebay_network_address(net, client);
  from.window = (uint64_t)window;
  uint32_t server = forebay_network_attach(net, "server", &sender_calls, &from);

  forebay_report *report = forebay_run(net);
  forebay_network_free(net);
  if (!report) {
    fprintf(stderr, "error: %s\n", forebay_error());
    return 2;
  }
  const char *own = "result/groups/server-client/goodput_bps";
  double cubic = forebay_report_value(report, "result/groups/stack/goodput_bps");
  printf("window %ld: %.0f bit/s\n", window, forebay_report_value(report, own));
  if (cubic == cubic) printf("CUBIC beside it: %.0f bit/s\n", cubic); /* it is not NaN */
  printf("datagrams sent: %llu, of which again: %.0f\n",
         (unsigned long long)forebay_report_host(report, server)->sent,
         forebay_report_value(report, "hosts/server/figures/resent"));
  printf("digest %s\n", forebay_report_digest(report));
  forebay_report_free(report);
  return 0;
}
