# Writes the main program of the unit tests: one line for every `Suite *NAME_suite(void)` found.
# Usage: awk -f tests/suites.awk tests/.../test_*.c
function short(name)
{
    sub(/_suite$/, "", name)
    return name
}
match($0, /^Suite \*[a-z0-9_]+_suite\(void\)$/) { # the definition, not its prototype
    name = substr($0, RSTART + 7, RLENGTH - 13)
    names[++count] = name
}
END {
    print "#include <check.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    for (i = 1; i <= count; i++)
        print "Suite *" names[i] "(void);"
    print "\n/* usage: unit [SUITE | --list]   runs all suites, or the one named; or prints their names */"
    print "int main(int argc, char **argv)\n{"
    print "    const char *only = argc > 1 ? argv[1] : NULL;"
    print "    if (only && !strcmp(only, \"--list\")) {"
    for (i = 1; i <= count; i++)
        print "        puts(\"" short(names[i]) "\");"
    print "        return EXIT_SUCCESS;\n    }"
    print "    SRunner *runner = srunner_create(NULL);"
    for (i = 1; i <= count; i++) {
        print "    if (!only || !strcmp(only, \"" short(names[i]) "\"))"
        print "        srunner_add_suite(runner, " names[i] "());"
    }
    print "    srunner_run_all(runner, CK_ENV);"
    print "    int failed = srunner_ntests_failed(runner);"
    print "    int run = srunner_ntests_run(runner);"
    print "    srunner_free(runner);"
    print "    printf(\"unit: %d passed, %d failed\\n\", run - failed, failed);"
    print "    return failed == 0 && run > 0 ? EXIT_SUCCESS : EXIT_FAILURE;\n}"
}
