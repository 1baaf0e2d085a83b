/* metersim doctor: what this machine has and lacks, with the command that mends it. */
#include "core/base/sha256.h"
#include "sim/cli/cli.h"
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

enum exit_code command_doctor(int argc, char **argv)
{
    int words;
    enum exit_code code = options_parse(argc, argv, NULL, 0, &words);
    if (code != EXIT_GOOD)
        return code;
    if (words > 0)
        return usage_error(argv[0], "unexpected word \"%s\"", argv[1]);
    bool hook = sqlite3_compileoption_used("ENABLE_PREUPDATE_HOOK");
    bool recent = sqlite3_libversion_number() >= 3037000; /* STRICT tables */
    printf("sqlite     %s  %s\n", sqlite3_libversion(),
           hook && recent ? "good"
                          : "too old, or built without the preupdate hook: "
                            "apt-get install libsqlite3-0");
    struct sha256_hasher *hasher = sha256_hasher_new();
    printf("libcrypto  %s\n",
           hasher != NULL ? "good" : "gives no SHA-256: apt-get install libssl3");
    bool scenarios = access("scenarios", R_OK) == 0;
    printf("scenarios  %s\n",
           scenarios ? "good" : "not here: run metersim from the root of the source tree");
    bool ready = hook && recent && hasher != NULL && scenarios;
    sha256_hasher_free(hasher);
    return ready ? EXIT_GOOD : EXIT_MISSING;
}
