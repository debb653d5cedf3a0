/* Was made for version 2 of the interface alone. */
#include "forebay_law.h"

FOREBAY_EXPORT const forebay_laws *forebay_laws_v2(const forebay_host *host);

const forebay_laws *forebay_laws_v2(const forebay_host *host) {
  (void)host;
  return 0;
}
