/* forebay_host.h: protocol stacks in C on networks of Forebay, in virtual time. Version 1.
 *
 * This file is in the public domain (CC0 1.0).
 *
 * A network is a scenario of Forebay: links, queue laws, cross traffic. A host is a protocol stack
 * at one of its nodes: a table of functions, forebay_endpoint, and a pointer of yours that each of
 * them is handed. A run calls them with the simulated time, and carries the datagrams that they
 * write. There are no sockets, no threads and no sleeping:
 *
 *     forebay_network *net = forebay_network_ready("bufferbloat");
 *     uint32_t client = forebay_network_attach(net, "client", &calls, &receiver);
 *     uint32_t server = forebay_network_attach(net, "server", &calls, &sender);
 *     forebay_report *report = forebay_run(net);
 *     if (!report) fprintf(stderr, "error: %s\n", forebay_error());
 *
 * Compile with `cc window.c -lforebay_host_c`; examples/host-c has a whole program.
 *
 * Errors. Nothing need be checked before forebay_run. The first thing that is wrong with a network
 * stays with it, whatever is called then does nothing, and forebay_run returns NULL;
 * forebay_error() says what it was. A network or report that is NULL is such an error too.
 *
 * Time is counted in whole picoseconds from the start of the run, in 64 bits: names end in `_ps`.
 * FOREBAY_NO_TIME, the largest number, stands for never. Functions at the end of this file convert.
 *
 * Calls come one at a time, in the thread that called forebay_run. No call may leave by longjmp or
 * by an exception. What a stack is handed is there until it returns, and what it hands over is read
 * before the next call. A stack must not read a clock, draw random numbers of which it does not set
 * the seed, or let addresses in memory decide: forebay_run_twice finds it where it does.
 *
 * Texts are UTF-8 that ends with a zero byte. Those that are handed out belong to who hands them
 * out, and stay until that is freed.
 */
#ifndef FOREBAY_HOST_H
#define FOREBAY_HOST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOREBAY_HOST_VERSION 1u

/* Never. */
#define FOREBAY_NO_TIME UINT64_MAX

/* Most bytes of a datagram, without headers: of a packet of 1500 B, IPv4 takes 20 B and UDP 8 B. */
#define FOREBAY_MAX_DATAGRAM 1472u

/* ---- What a stack is ----------------------------------------------------------------- */

/* ECN fields of the IP header, with the numbers of RFC 3168. */
enum { FOREBAY_NOT_ECT = 0, FOREBAY_ECT_1 = 1, FOREBAY_ECT_0 = 2, FOREBAY_CE = 3 };

/* The differentiated services codepoint that the scenario gives the flow. */
#define FOREBAY_DSCP_OF_FLOW 0xffu

/* An address of a host. */
typedef struct forebay_address {
  uint8_t ip[4]; /* IPv4: 10.0.0.1 is {10, 0, 0, 1} */
  uint16_t port; /* as a number: htons() of it is for a sockaddr_in */
} forebay_address;

/* A datagram that has arrived. */
typedef struct forebay_datagram {
  forebay_address from;
  forebay_address to;
  uint8_t ecn;          /* as the network has left it */
  uint8_t dscp;         /* 0 to 63, as the network has left it */
  const uint8_t *bytes; /* without headers of UDP and IP */
  size_t length;
} forebay_datagram;

/* Where a datagram goes, and its class. */
typedef struct forebay_transmit {
  forebay_address to;
  uint8_t ecn;  /* FOREBAY_NOT_ECT unless it is set */
  uint8_t dscp; /* 0 to 63; FOREBAY_DSCP_OF_FLOW unless it is set */
} forebay_transmit;

/* How far an application is. */
enum {
  FOREBAY_WAITING = 0,  /* it waits for the stack */
  FOREBAY_BUSY = 1,     /* it wants to be asked again at once, after what it wrote was sent */
  FOREBAY_UNTIL = 2,    /* it waits for the stack, at most until `until_ps` */
  FOREBAY_FINISHED = 3, /* it is done; it is asked further, as its peer may not be */
  FOREBAY_FAILED = 4    /* it cannot continue, for `reason`, such as that its connection was lost:
                           an outcome, which the report has; the run continues */
};

/* What belongs to some answers of `advance`. */
typedef struct forebay_progress {
  uint64_t until_ps;
  const char *reason; /* read when `advance` has returned; NULL: no reason is given */
} forebay_progress;

/* Takes a quantity by name, such as ("cwnd_bytes", 14720). `to` is what was handed in with it. */
typedef void forebay_visit(void *to, const char *name, double value);

/* The functions of a stack. All but `receive` and `transmit` may be NULL, and so left out of a
 * table that is written with designators. Where a stack is at work it is asked in this order, again
 * until nothing is left to do at the time: `advance`, `transmit` until it returns 0, `timeout`, and
 * `wake` if that time has come. Times never decrease from call to call. */
typedef struct forebay_endpoint {
  size_t size; /* sizeof(forebay_endpoint) */
  /* A datagram has arrived. */
  void (*receive)(void *stack, uint64_t now_ps, const forebay_datagram *datagram);
  /* Write the next datagram to be sent now into `buffer`, and where it goes into `out`. Returns its
   * length, at most `capacity`, which is FOREBAY_MAX_DATAGRAM; 0 if there is none. */
  size_t (*transmit)(void *stack, uint64_t now_ps, uint8_t *buffer, size_t capacity,
                     forebay_transmit *out);
  /* The time at which it wants to be woken if nothing arrives before; one that is not later than
   * now means at once. NULL: never. */
  uint64_t (*timeout)(void *stack);
  /* The time that `timeout` named has come. Not NULL where `timeout` is not. */
  void (*wake)(void *stack, uint64_t now_ps);
  /* Its address has changed to `local` (forebay_network_move_host). A stack that leaves this NULL
   * notices it by what its peer does. */
  void (*moved)(void *stack, uint64_t now_ps, forebay_address local);
  /* Let the application read what has arrived and write what there is room for. Asked when the
   * stack starts, after it has received a datagram, and after it was woken. Returns how far it is.
   * NULL: it waits for the stack. */
  int32_t (*advance)(void *stack, uint64_t now_ps, forebay_progress *out);
  /* Bytes that the application has read so far: the goodput of results. NULL: none. */
  uint64_t (*delivered)(const void *stack);
  /* Inner quantities, for the series that a scenario records: `visit(to, name, value)` for each. */
  void (*probes)(const void *stack, forebay_visit *visit, void *to);
  /* Figures of the application for the report, asked when the run has ended. */
  void (*figures)(const void *stack, forebay_visit *visit, void *to);
} forebay_endpoint;

/* End the run, from within a call of a stack, once that call has returned: forebay_run returns
 * NULL, and the message names the host, the time and `reason`. */
void forebay_stop(const char *reason);

/* ---- A network ----------------------------------------------------------------------- */

typedef struct forebay_network forebay_network;
typedef struct forebay_report forebay_report;

/* A network that comes with Forebay: "bufferbloat", "l4s-mix", "lte", ... (an unknown name is
 * answered with all of them). Its flows under test, the group "stack", are of Forebay's CUBIC. */
forebay_network *forebay_network_ready(const char *name);
/* The network of a scenario file, which can name data files beside it. */
forebay_network *forebay_network_from_file(const char *path);
/* The network of a scenario's text. It is read when it runs. */
forebay_network *forebay_network_from_toml(const char *text);
/* Free it; NULL does nothing. Stacks are yours: they are not touched. */
void forebay_network_free(forebay_network *net);

/* Set a parameter of the scenario: "duration=10 s". */
void forebay_network_set(forebay_network *net, const char *assignment);
/* The root seed; if it is not set, that of the scenario. */
void forebay_network_seed(forebay_network *net, uint64_t seed);
/* Replication number: other draws for every random number of the scenario; 0 if it is not set. */
void forebay_network_replication(forebay_network *net, uint64_t number);
/* Have the report contain what the `record` section of the scenario asks for. */
void forebay_network_record(forebay_network *net);
/* Capture what passes the near end of `link`, with the real bytes of datagrams. */
void forebay_network_capture(forebay_network *net, const char *link);

/* Make a host at a node of the scenario. Returns its number: 0, 1, 2, ... `calls` is copied;
 * `stack` is yours, and must stay until forebay_run has returned, or the network is freed. Hosts
 * exchange datagrams with all others, unless forebay_network_connect says which. */
uint32_t forebay_network_attach(forebay_network *net, const char *node,
                                const forebay_endpoint *calls, void *stack);
/* The same in two steps, for stacks that must know addresses of others before they are made. */
uint32_t forebay_network_reserve(forebay_network *net, const char *node);
void forebay_network_put(forebay_network *net, uint32_t host, const forebay_endpoint *calls,
                         void *stack);
/* The address of a host, at first. */
forebay_address forebay_network_address(forebay_network *net, uint32_t host);
/* Have a host start later than the run; datagrams that come before are lost. */
void forebay_network_start_at(forebay_network *net, uint32_t host, uint64_t time_ps);
/* Have two hosts exchange datagrams; hosts of which no such thing is said then exchange none. */
void forebay_network_connect(forebay_network *net, uint32_t one, uint32_t other);
/* Have a host leave its address for a new one at `node` at a time, as a telephone does that changes
 * its access network. What comes to the old one is lost. Returns the new address. */
forebay_address forebay_network_move_host(forebay_network *net, uint32_t host, const char *node,
                                          uint64_t time_ps);

/* Run it, once. NULL if something is wrong with the network, or a stack is at fault: it stops the
 * run, does not stop transmitting, asks to be called again and again, sends to where no host is. */
forebay_report *forebay_run(forebay_network *net);
/* Run what `make(argument)` makes twice, the second time watched by all invariants. NULL also if
 * the runs differ: then forebay_error() names the first datagram in which they do. Networks that
 * `make` returns are freed; stacks of the first are no longer called when it makes the second. */
forebay_report *forebay_run_twice(forebay_network *(*make)(void *argument), void *argument);

/* What was wrong when a function failed in this thread last; "" if none has. It stays until the
 * next one fails. */
const char *forebay_error(void);
/* The version of Forebay. */
const char *forebay_version(void);

/* ---- A report ------------------------------------------------------------------------ */

/* Counts of a host over the whole run. Datagrams are counted without headers of UDP and IP. */
typedef struct forebay_host_report {
  const char *name; /* that of its node, with a number if there are several */
  uint64_t sent, sent_bytes;
  uint64_t received, received_bytes;
  uint64_t marked;     /* received datagrams that were marked CE */
  uint64_t missed;     /* that came before it started, or to an address that it had left */
  uint64_t delivered;  /* bytes that its application read */
  double goodput_bps;  /* these in bit/s, from its start until it finished or the run ended */
  double started_s;
  double finished_s;   /* NaN if its application did not finish */
  double failed_s;     /* NaN if it did not fail */
  const char *failure; /* why it failed; NULL if it did not */
} forebay_host_report;

/* Free it; NULL does nothing. */
void forebay_report_free(forebay_report *report);
/* The digest of the trajectory: equal digests, equal runs. */
const char *forebay_report_digest(const forebay_report *report);
/* Report on a host; NULL if there is none of that number. */
const forebay_host_report *forebay_report_host(const forebay_report *report, uint32_t host);
/* A number of the report by its path in the JSON of forebay_report_json, where members of lists are
 * called by their names: "result/groups/stack/goodput_bps", "result/links/bottleneck/drops",
 * "hosts/client/figures/resent". NaN if it is not there: forebay_error() says what is. */
double forebay_report_value(const forebay_report *report, const char *path);
/* The whole report: {"result": {...}, "hosts": [...]}. `result` is that of any scenario. */
const char *forebay_report_json(const forebay_report *report);
/* The numbers in a column of a table that was recorded, such as "cwnd_bytes", which a stack's
 * probes name, in "series/flows.server-client", where "time_s" is another. NULL if it is not there,
 * or has no numbers: forebay_error() says what there is. */
const double *forebay_report_column(const forebay_report *report, const char *table,
                                    const char *column, size_t *length);
/* The capture at `link`, a file in the format pcapng; NULL if nothing was captured there. */
const uint8_t *forebay_report_capture(const forebay_report *report, const char *link,
                                      size_t *length);

/* ---- Times in other units ------------------------------------------------------------ */

/* Picoseconds as whole units, rounded down: the time of a clock that counts in these. A stack that
 * is woken at the time that it named, or later, so never reads an earlier one. */
static inline uint64_t forebay_ns(uint64_t time_ps) { return time_ps / 1000u; }
static inline uint64_t forebay_us(uint64_t time_ps) { return time_ps / 1000000u; }
static inline uint64_t forebay_ms(uint64_t time_ps) { return time_ps / 1000000000u; }
static inline double forebay_s(uint64_t time_ps) { return (double)time_ps * 1e-12; }

static inline uint64_t forebay_ps_from(uint64_t count, uint64_t unit_ps) {
  return count > FOREBAY_NO_TIME / unit_ps ? FOREBAY_NO_TIME : count * unit_ps;
}
/* Units in picoseconds; FOREBAY_NO_TIME if no run reaches it, as for a stack whose own "never" is
 * the largest number. */
static inline uint64_t forebay_from_ns(uint64_t ns) { return forebay_ps_from(ns, 1000u); }
static inline uint64_t forebay_from_us(uint64_t us) { return forebay_ps_from(us, 1000000u); }
static inline uint64_t forebay_from_ms(uint64_t ms) { return forebay_ps_from(ms, 1000000000u); }
/* Seconds in picoseconds, rounded up: a wake-up is not earlier than what was asked for. */
static inline uint64_t forebay_from_s(double s) {
  double ps = s * 1e12;
  uint64_t whole;
  if (!(ps > 0)) return 0;
  if (ps >= 18e18) return FOREBAY_NO_TIME;
  whole = (uint64_t)ps;
  return (double)whole < ps ? whole + 1u : whole;
}

#ifdef __cplusplus
}
#endif

#endif
