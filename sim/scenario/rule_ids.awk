# The ids that core/CONTRACT.md defines, as C: a definition is a line "- **ID** ...".
# Usage: awk -f sim/scenario/rule_ids.awk core/CONTRACT.md
match($0, /^- \*\*(R-[A-Z]+-[0-9]+|[AS]-[0-9]+)\*\*/) {
    ids[++count] = substr($0, 5, RLENGTH - 6)
}
END {
    if (count == 0) {
        print FILENAME ": no rule is defined" > "/dev/stderr"
        exit 1
    }
    print "#include \"sim/scenario/rule_ids.h\"\n"
    print "const char *const rule_ids[] = {"
    for (i = 1; i <= count; i++)
        print "    \"" ids[i] "\","
    print "};\nconst size_t rule_id_count = sizeof(rule_ids) / sizeof(rule_ids[0]);"
}
