/* The table of a library that has one law: what all of the bad laws beside it have in common. */
#include "forebay_law.h"

/* A law of `kind_` with a state of `bytes_` B; what follows are its other fields. */
#define ONE_LAW(kind_, name_, bytes_, ...)                                                         \
  static const forebay_law the_law = {.size = sizeof(forebay_law),                                 \
                                      .kind = kind_,                                               \
                                      .state_bytes = bytes_,                                       \
                                      .name = name_,                                               \
                                      .summary = "A bad law.",                                     \
                                      .source = "tests",                                           \
                                      .example = "",                                               \
                                      __VA_ARGS__};                                                \
  static const forebay_law *const the_laws[] = {&the_law};                                         \
  static const forebay_laws the_table = {sizeof(forebay_laws), FOREBAY_LAWS_VERSION, 1, the_laws}; \
  const forebay_laws *forebay_laws_v1(const forebay_host *host) {                                  \
    (void)host;                                                                                    \
    return &the_table;                                                                             \
  }
