/* Readable names for what the tables keep as hashes and uuids, so that a golden can be read.
 *
 *   series_hash    "shop-1 GET /cart 200"     resource_hash   "shop-1"     tenant   "acme"
 *
 * Registered when a message is published, from the very attributes it carries
 * (core/model/identity.h). Two hashes never share a name: the second gets " #2", in order of
 * registration. A hash nobody registered is shown as its first 8 hex digits.
 */
#ifndef SIM_WORLD_NAMES_H
#define SIM_WORLD_NAMES_H

#include "core/base/bytes.h"
#include "core/base/sha256.h"
#include <stdbool.h>

struct names;

struct names *names_new(void); /* NULL: out of memory */
void names_free(struct names *names);

/* The first registration of a hash stays. text need not be NUL-terminated; bytes that are not
 * storable text are shown as \xhh. Returns the name, which lives as long as names. */
const char *names_add(struct names *names, const struct sha256 *hash, struct bytes text);
const char *names_add_tenant(struct names *names, const struct uuid *tenant, const char *text);

/* Never NULL. */
const char *names_of(struct names *names, const struct sha256 *hash);
const char *names_of_tenant(struct names *names, const struct uuid *tenant);

/* The uuid of a tenant that a scenario only names: the same on every machine and in every run.
 * False: out of memory. */
bool names_tenant_uuid(const char *name, struct uuid *out);

#endif
