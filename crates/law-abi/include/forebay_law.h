/* forebay_law.h: laws of one's own for Forebay, as a shared library. Interface version 1.
 *
 * This file is in the public domain (CC0 1.0).
 *
 * A law decides and does nothing else: it is handed the facts of a decision and returns it. It sees
 * no clock but `now`, no events and no other law. A library exports one function,
 *
 *     const forebay_laws *forebay_laws_v1(const forebay_host *host);
 *
 * which gives the table of its laws, once, when the library is loaded. Tables and texts must stay
 * as they are from then on.
 *
 * Units. Times and spans are whole picoseconds in 64 bits with a sign; FOREBAY_NEVER stands for
 * never, for not known and for an absent parameter. Sizes are bytes. Rates of links are bit/s,
 * those of congestion controls bytes of data per second. Windows are bytes.
 *
 * State. The engine allocates `state_bytes` for each queue, connection or flow, aligned to 16 bytes
 * and zeroed. It begins with the parameters in the order of their declaration, 8 bytes for each
 * word; the rest is the law's. A law keeps all that it remembers in there: runs go side by side in
 * several threads, and share nothing.
 *
 * Facts. A struct for each kind, of which `size` says how long the engine's is: fields are only
 * ever appended, and another major version has another symbol. Nothing of it may be kept beyond the
 * call. Fields marked "out" are results; they hold what is the case when the call begins.
 *
 * Arithmetic. The same run must give the same digits everywhere. Logarithms and powers come from
 * the host; compile without fast-math and with -ffp-contract=off. Random numbers come from the host
 * as well, drawn from the stream that the law alone has; it needs FOREBAY_DRAWS for that.
 */
#ifndef FOREBAY_LAW_H
#define FOREBAY_LAW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOREBAY_LAWS_VERSION 1u

/* Never, not known, absent. */
#define FOREBAY_NEVER INT64_MAX

#if defined(_WIN32)
#define FOREBAY_EXPORT __declspec(dllexport)
#else
#define FOREBAY_EXPORT __attribute__((visibility("default")))
#endif

/* ---- What a law is ------------------------------------------------------------------- */

/* Kinds of laws. A law of kind FOREBAY_QUEUE decides when packets arrive and, if it has `dequeue`,
 * on each packet at the head of a queue that the engine keeps in order of arrival. One of kind
 * FOREBAY_DISCIPLINE orders the packets itself, by their handles. */
enum {
  FOREBAY_QUEUE = 1,
  FOREBAY_DISCIPLINE = 2,
  FOREBAY_SCHEDULER = 3,
  FOREBAY_CONDITIONER = 4,
  FOREBAY_CONTROL = 5,
  FOREBAY_TRAFFIC = 6,
  FOREBAY_IMPAIRMENT = 7
};

/* Flags of laws. */
enum {
  FOREBAY_DRAWS = 1,             /* it draws random numbers: facts have `random`; not schedulers,
                                    nor `create`, `departed`, `ready_at` and `green_at` */
  FOREBAY_OWN_LIMIT = 2,         /* queue: it limits the buffer itself, and has no `limit` */
  FOREBAY_TRANSPARENT = 4,       /* queue: it lets a packet that finds the link idle pass unchanged,
                                    and its state does not depend on such packets */
  FOREBAY_SHAPES = 8,            /* discipline, scheduler: may give none though packets wait, and
                                    answers `ready_at` */
  FOREBAY_KEEPS_COLOURS = 16,    /* conditioner: it never changes or sets a precedence */
  FOREBAY_USES_RTT = 32,         /* conditioner: senders report their round-trip times */
  FOREBAY_REORDERS = 64,         /* impairment: packets may overtake each other */
  FOREBAY_SAMPLES = 128,         /* control: `sampled` and `lost` are called */
  FOREBAY_EXACT_MARKS = 256,     /* control: receivers echo which segments were marked (RFC 8257) */
  FOREBAY_L4S = 512,             /* control: scalable, ECT(1), accurate feedback (RFC 9331, 9768) */
  FOREBAY_ENDLESS = 1024,        /* traffic: it never runs out: TCP decides how much is sent */
  FOREBAY_TRANSFERS = 2048       /* traffic: each burst is a transfer over TCP that is completed */
};

/* Types of parameters, and the words of 8 bytes that a value takes in the state. */
enum {
  FOREBAY_NUMBER = 1,    /* double; NaN if absent */
  FOREBAY_WHOLE = 2,     /* int64_t, 0 or more */
  FOREBAY_BOOL = 3,      /* int64_t: 0 or 1 */
  FOREBAY_WORD = 4,      /* int64_t: the place of the word among `words` */
  FOREBAY_SPAN = 5,      /* int64_t: picoseconds */
  FOREBAY_RATE = 6,      /* int64_t: bit/s */
  FOREBAY_SIZE = 7,      /* int64_t: bytes */
  FOREBAY_LENGTH = 8,    /* two words, int64_t: an amount, and 1 if it counts packets, 0 if bytes */
  FOREBAY_FREQUENCY = 9, /* double: per second; NaN if absent */
  FOREBAY_TEXT = 10      /* const char *, UTF-8; null if absent */
};

/* Flags of parameters. */
enum {
  FOREBAY_LIST = 1,     /* a list of such values: two words, a pointer to the values, one word each
                           (two for lengths), which is null if absent, and their number */
  FOREBAY_OPTIONAL = 2  /* it may be left out, and is absent then */
};

/* A word of a closed set. */
typedef struct forebay_word {
  const char *name;
  const char *meaning;
} forebay_word;

/* A parameter. */
typedef struct forebay_parameter {
  uint32_t size; /* sizeof(forebay_parameter) */
  uint32_t type;
  uint32_t flags;
  uint32_t word_count;
  const char *name;
  const char *meaning;         /* with its unit and what is allowed */
  const char *source;
  const char *default_value;   /* as JSON: "\"5 ms\"", "0.5", "true", "[1, 2]"; null: none */
  const forebay_word *words;   /* FOREBAY_WORD: `word_count` of them */
} forebay_parameter;

/* Types of quantities in the state, for probes without a function. */
enum { FOREBAY_INT64 = 1, FOREBAY_DOUBLE = 2, FOREBAY_PICOSECONDS = 3 /* int64_t, shown in s */ };

/* An inner quantity that recorded series show. */
typedef struct forebay_probe {
  uint32_t size;   /* sizeof(forebay_probe) */
  uint32_t type;   /* how it stands in the state, unless the law has `probe` */
  uint64_t offset; /* where, in bytes from its start */
  const char *name;
  const char *unit; /* "s", "packets"; "1" for a plain number */
  const char *meaning;
} forebay_probe;

/* A decision: 0 or more is what is decided, below 0 an error, upon which the run ends. */
typedef int32_t forebay_call(void *state, void *facts);

/* Places of the decisions of each kind in `decide`. Those left out (null) decide nothing: queues
 * and conditioners let packets pass, controls do nothing. */
enum {
  /* FOREBAY_QUEUE, FOREBAY_DISCIPLINE; struct forebay_queue_facts */
  FOREBAY_ENQUEUE = 0,  /* a packet arrives: a verdict */
  FOREBAY_DEQUEUE = 1,  /* queue: a verdict on the head; discipline: which goes next */
  FOREBAY_DEPARTED = 2, /* queue: an admitted packet leaves the queue; 0 */
  FOREBAY_READY_AT = 3, /* discipline with FOREBAY_SHAPES: writes `time`; 0 */
  /* FOREBAY_SCHEDULER; struct forebay_scheduler_facts */
  FOREBAY_SELECT = 0,     /* the class that is served next; below 0 is an error, and with
                             FOREBAY_SHAPES FOREBAY_NO_CLASS says that none may be served yet */
  FOREBAY_ACTIVATE = 1,   /* a class has a packet to send, and had none; 0 */
  FOREBAY_DEACTIVATE = 2, /* a class has none any more, without having been served; 0 */
  FOREBAY_SERVED = 3,     /* the head of a class is sent; 0 */
  FOREBAY_SCHEDULER_READY_AT = 4, /* with FOREBAY_SHAPES: writes `time`; 0 */
  /* FOREBAY_CONDITIONER; struct forebay_conditioner_facts */
  FOREBAY_CONDITION = 0, /* a packet passes: FOREBAY_PASS, FOREBAY_MARK or FOREBAY_POLICE; writes
                            `precedence` and `dscp` */
  FOREBAY_GREEN_AT = 1,  /* writes to `time` when a packet of `bytes` would be green; 0 */
  /* FOREBAY_CONTROL; struct forebay_control_facts; all write the window and `pacing_rate`, 0 */
  FOREBAY_OPENED = 0,       /* data can be sent; `now` is never, and the window stays as it is */
  FOREBAY_ACKNOWLEDGED = 1, /* new data was acknowledged outside loss recovery */
  FOREBAY_CONGESTED = 2,    /* congestion was signalled */
  FOREBAY_SAMPLED = 3,      /* with FOREBAY_SAMPLES: an acknowledgement arrived, before all else */
  FOREBAY_LOST = 4,         /* with FOREBAY_SAMPLES: a segment was found to be lost */
  FOREBAY_RESTARTED = 5,    /* the flow starts again from idle */
  /* FOREBAY_TRAFFIC; struct forebay_traffic_facts */
  FOREBAY_NEXT = 0,     /* 1: writes `gap` and `bytes` of the next burst; 0: nothing more is sent */
  FOREBAY_DESCRIBE = 1, /* writes `largest` and `mean_rate`, once; 0 */
  /* FOREBAY_IMPAIRMENT; struct forebay_impairment_facts */
  FOREBAY_PASSAGE = 0, /* a passage */

  FOREBAY_MAX_DECISIONS = 8
};

/* A law. */
typedef struct forebay_law {
  uint32_t size; /* sizeof(forebay_law) */
  uint32_t kind;
  uint32_t flags;
  uint32_t state_bytes; /* with the parameters */
  const char *name;     /* in scenarios: letters, digits and underscores */
  const char *summary;  /* a sentence: what it is */
  const char *source;   /* the publication that defines it */
  const char *example;  /* parameters with which it works, as lines of a scenario */
  const char *contents; /* 16 hexadecimal digits, a hash of its source; null: that of the library */
  const forebay_parameter *parameters;
  const forebay_probe *probes;
  uint32_t parameter_count;
  uint32_t probe_count;
  forebay_call *create;         /* checks parameters and derives values from them; facts are a
                                   struct forebay_create_facts; null: nothing to do */
  void (*destroy)(void *state); /* null: nothing to do */
  forebay_call *decide[FOREBAY_MAX_DECISIONS];
  void (*probe)(const void *state, double *values); /* null: values stand in the state */
} forebay_law;

/* The table of a library. */
typedef struct forebay_laws {
  uint32_t size;    /* sizeof(forebay_laws) */
  uint32_t version; /* FOREBAY_LAWS_VERSION */
  uint64_t count;
  const forebay_law *const *laws;
} forebay_laws;

/* ---- What is decided ----------------------------------------------------------------- */

/* Verdicts on packets. A mark needs a packet that is ECN-capable. */
enum {
  FOREBAY_PASS = 0,
  FOREBAY_MARK = 1,
  FOREBAY_DROP_EARLY = 2,    /* by chance or by a rule that wants less traffic */
  FOREBAY_DROP_FORCED = 3,   /* because it must go: an average or a delay is too large */
  FOREBAY_DROP_OVERFLOW = 4, /* for want of room */
  FOREBAY_POLICE = 5         /* conditioner: it does not conform */
};

/* Answers of a discipline that is asked for the next packet. */
enum {
  FOREBAY_NONE = 0,       /* none; only if none waits, or with FOREBAY_SHAPES */
  FOREBAY_SEND = 1,       /* the one whose handle it has written to `handle` */
  FOREBAY_SEND_MARKED = 2 /* the same, marked */
};

/* Answer of a scheduler that shapes: none yet. */
enum { FOREBAY_NO_CLASS = 64 };

/* Passages of a wire. */
enum {
  FOREBAY_PASSES = 0,
  FOREBAY_DELAYED = 1, /* by `delay` */
  FOREBAY_LOST_ON_WIRE = 2,
  FOREBAY_CORRUPTED = 3,
  FOREBAY_DOUBLED = 4
};

/* Signals of congestion. */
enum {
  FOREBAY_SIGNAL_LOSS = 1,          /* a segment was lost and fast retransmit repairs it */
  FOREBAY_SIGNAL_ECN = 2,           /* ECN-Echo, or marks that counters report */
  FOREBAY_SIGNAL_TIMEOUT = 3,       /* the retransmission timer expired, for this segment first */
  FOREBAY_SIGNAL_TIMEOUT_AGAIN = 4  /* the same segment timed out before */
};

/* Kinds of packets. */
enum {
  FOREBAY_DATA = 0,
  FOREBAY_PROBE = 1,
  FOREBAY_ACK = 2,
  FOREBAY_NOTIFICATION = 3,
  FOREBAY_REPORT = 4,
  FOREBAY_RESOURCE_CELL = 5
};

/* ---- Facts --------------------------------------------------------------------------- */

/* The random stream of a law. */
typedef struct forebay_random forebay_random;

/* First fields of all facts. */
#define FOREBAY_FACTS                                                                              \
  uint32_t size;          /* of the engine's struct */                                             \
  uint32_t decision;      /* the place in `decide` */                                              \
  int64_t now;                                                                                     \
  forebay_random *random; /* null without FOREBAY_DRAWS */                                         \
  void *engine            /* for functions of the host */

/* The packet that is decided on. */
#define FOREBAY_PACKET                                                                             \
  int64_t bytes;                                                                                   \
  int64_t ecn; /* ECN field: 0 not ECN-capable, 1 ECT(1), 2 ECT(0), 3 CE */                        \
  int64_t dscp;                                                                                    \
  int64_t precedence; /* drop precedence: 0 green, 1 yellow, 2 red in three colours */             \
  int64_t flow;       /* number of its flow */                                                     \
  int64_t packet_kind

typedef struct forebay_create_facts {
  FOREBAY_FACTS;
  int64_t link_rate; /* bit/s; laws of links */
  int64_t classes;   /* number of classes; schedulers */
} forebay_create_facts;

typedef struct forebay_queue_facts {
  FOREBAY_FACTS;
  FOREBAY_PACKET;
  int64_t waiting_packets; /* without the packet that arrives; behind the one at the head */
  int64_t waiting_bytes;
  int64_t idle_since;  /* enqueue: since when nothing waits or is sent on the link; or never */
  int64_t empty_since; /* enqueue: the same of this queue */
  int64_t sojourn;     /* dequeue: how long the packet at the head has waited */
  int64_t round;       /* dequeue: heads dropped before it in this dequeue */
  int64_t empty;       /* dequeue: 1 if there is no packet at the head: none waits (any more) */
  int64_t handle;      /* discipline, enqueue: of what arrives; dequeue, out: of the next */
  int64_t time;        /* ready_at, out: when the next may leave */
} forebay_queue_facts;

typedef struct forebay_scheduler_facts {
  FOREBAY_FACTS;
  int64_t classes;   /* their number */
  int64_t active;    /* a bit for each class that has a packet to send, class 0 lowest */
  int64_t heads[64]; /* select: bytes of the packet at the head of each active class */
  int64_t class_number; /* activate, deactivate, served: the class */
  int64_t bytes;     /* served: of the packet that is sent */
  int64_t more;      /* served: 1 if more of the class wait */
  int64_t time;      /* ready_at, out: when one may be served */
} forebay_scheduler_facts;

typedef struct forebay_conditioner_facts {
  FOREBAY_FACTS;
  FOREBAY_PACKET;     /* `precedence`, 0 to 63, and `dscp`, 0 to 63, are written */
  int64_t srtt;       /* with FOREBAY_USES_RTT: smoothed round-trip time of its sender */
  int64_t slow_start; /* with FOREBAY_USES_RTT: 1 if its sender is in slow start */
  int64_t time;       /* green_at, out */
} forebay_conditioner_facts;

typedef struct forebay_control_facts {
  FOREBAY_FACTS;
  double cwnd;        /* out: congestion window, bytes; above 0 and up to 2^32 */
  double ssthresh;    /* out: slow-start threshold, bytes; infinite until `congested` sets it */
  double smss;        /* sender maximum segment size, bytes */
  double pacing_rate; /* out: bytes of data per second; 0 leaves it to acknowledgements */
  /* opened, acknowledged, sampled */
  int64_t rtt;  /* round-trip time that it measured; or never */
  int64_t srtt; /* smoothed round-trip time; or never */
  int64_t ece;  /* 1 if it reports marks */
  /* acknowledged, congested */
  double acked;            /* bytes that count towards growth: at most a window, and without byte
                              counting a segment */
  double slow_start_limit; /* bytes of them that count in slow start at most (RFC 3465) */
  double flight;           /* bytes outstanding before it */
  int64_t signal;          /* congested */
  /* sampled: draft-ietf-ccwg-bbr, section 4.1; bytes of data */
  int64_t newly_acked;
  int64_t newly_delivered;
  int64_t newly_lost;
  int64_t delivered;
  int64_t prior_delivered; /* or never */
  double delivery_rate;    /* bytes per second; below 0 if it gives none */
  int64_t app_limited;
  int64_t one_way; /* one-way delay by timestamps */
  int64_t prior_in_flight;
  int64_t in_flight;
  int64_t sent_in_flight;
  int64_t lost_since;
  int64_t recovering;
  int64_t cwnd_limited;
  int64_t paced;
  int64_t selective;
  int64_t newly_marked;
  int64_t una; /* number of the next segment to be acknowledged */
  int64_t max; /* number of the next segment never sent */
  /* lost; also `sent_in_flight`, `lost_since`, `app_limited`, `delivered` */
  int64_t segment; /* its number */
  int64_t bytes;   /* its data */
} forebay_control_facts;

typedef struct forebay_traffic_facts {
  FOREBAY_FACTS;      /* `now` is never: traffic does not depend on the network */
  int64_t gap;        /* next, out: time since the burst before */
  int64_t bytes;      /* next, out: bytes written, or of a datagram on the wire */
  int64_t largest;    /* describe, out: bytes of the largest burst; never: only TCP can carry it */
  int64_t mean_rate;  /* describe, out: mean rate on the wire in bit/s; never: there is none */
} forebay_traffic_facts;

typedef struct forebay_impairment_facts {
  FOREBAY_FACTS;
  FOREBAY_PACKET;
  int64_t delay; /* out, with FOREBAY_DELAYED */
} forebay_impairment_facts;

/* ---- What a law may call ------------------------------------------------------------- */

/* Functions of the host. `facts` are those of the call that they are called from. */
typedef struct forebay_host {
  uint32_t size;
  uint32_t version;            /* of this interface */
  const char *forebay_version; /* of Forebay */
  /* Say why a call returns an error: `parameter` names one that is wrong, or is null. */
  void (*fail)(void *facts, const char *parameter, const char *message);
  /* Discipline: the packet with this handle is dropped, with a verdict that says why. */
  void (*drop)(void *facts, int64_t handle, int32_t verdict);
  double (*ln)(double x);
  double (*ln_1p)(double x);
  double (*exp)(double x);
  double (*exp_m1)(double x);
  double (*pow)(double x, double y);
  double (*cbrt)(double x);
  double (*uniform)(forebay_random *random);               /* on [0, 1) */
  double (*exponential)(forebay_random *random);           /* mean 1 */
  double (*normal)(forebay_random *random);                /* mean 0, variance 1 */
  int64_t (*below)(forebay_random *random, int64_t limit); /* whole, 0 to limit - 1 */
} forebay_host;

/* What a library exports. */
FOREBAY_EXPORT const forebay_laws *forebay_laws_v1(const forebay_host *host);

#ifdef __cplusplus
}
#endif

#endif
