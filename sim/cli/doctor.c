/* metersim doctor: what a run needs of this machine, with what mends it. The libraries are there,
 * or metersim would not have started; it looks at what they are and can do. What a build needs is
 * the business of make deps. */
#include "core/base/sha256.h"
#include "sim/cli/cli.h"
#include <jansson.h>
#include <openssl/crypto.h>
#include <protobuf-c/protobuf-c.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

#define SQLITE_LEAST 3037000 /* STRICT tables */

static bool say(const char *what, const char *version, bool good, const char *otherwise)
{
    printf("%-11s %-10s %s\n", what, version, good ? "good" : otherwise);
    return good;
}

enum exit_code command_doctor(int argc, char **argv)
{
    int words;
    char version[16];
    enum exit_code code = options_parse(argc, argv, NULL, 0, &words);
    if (code != EXIT_GOOD)
        return code;
    if (words > 0)
        return usage_error(argv[0], "unexpected word \"%s\"", argv[1]);
    bool ready = say("sqlite", sqlite3_libversion(), sqlite3_libversion_number() >= SQLITE_LEAST,
                     "too old: 3.37 or newer is needed, Debian 12 has it");
    ready = say("  preupdate", "", sqlite3_compileoption_used("ENABLE_PREUPDATE_HOOK"),
                "built without the preupdate hook, which Debian's libsqlite3-0 has") &&
            ready;
    struct sha256_hasher *hasher = sha256_hasher_new();
    ready = say("libcrypto", OpenSSL_version(OPENSSL_VERSION_STRING), hasher != NULL,
                "gives no SHA-256: see the provider in openssl.cnf, or reinstall libssl3") &&
            ready;
    sha256_hasher_free(hasher);
    say("protobuf-c", protobuf_c_version(), true, "");
    say("jansson", jansson_version_str(), true, "");
    unsigned xxhash = XXH_versionNumber();
    snprintf(version, sizeof(version), "%u.%u.%u", xxhash / 10000, xxhash / 100 % 100,
             xxhash % 100);
    say("xxhash", version, true, "");
    bool scenarios = access("scenarios", R_OK | X_OK) == 0;
    ready = say("scenarios", "", scenarios,
                "not here: run metersim from the root of the source tree") &&
            ready;
    return ready ? EXIT_GOOD : EXIT_MISSING;
}
