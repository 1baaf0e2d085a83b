# Embeds sql/ into the program. Runs under mawk and gawk; the Makefile calls it:
#
#   awk -f sql/embed.awk -v mode=header sql/*/queries/*.sql > gen/queries.h
#   awk -f sql/embed.awk -v mode=source sql/*/queries/*.sql > gen/queries.c
#   awk -f sql/embed.awk -v mode=schema sql/sqlite/schema/*.sql > gen/schema.c
#
# The form of a query file is described in sql/README.md. A file that does not follow it fails the
# build with "file:line: what". The dialect of a file is its folder, sql/DIALECT/queries/. Once a
# file of a second dialect is given, a query that stands in one dialect alone, or whose parameters
# or results differ between them, fails too.
#
# One query in the arrays below, q being dialect SUBSEP name:
#   place[q]  annotation[q]  param_count[q] param[q,i] param_type[q,i]  result_count[q] result[q,i]
#   result_type[q,i]  part_count[q]  kind[q,p] table[q,p] reads[q,p] key[q,p,i] key_count[q,p]
#   sql[q,p]

BEGIN {
    split("int bool time date float text bytes uuid buckets", words, " ")
    for (i in words)
        types[words[i]] = "VALUE_" toupper(words[i])
    split("tx read insert upsert delete claim select_in shared exclusive try relation ddl",
        words, " ")
    for (i in words)
        kinds[words[i]] = "QUERY_KIND_" toupper(words[i])
    split("exec execrows batchexec one many", words, " ")
    for (i in words)
        annotations[words[i]] = 1
    if (mode != "header" && mode != "source" && mode != "schema") {
        print "embed.awk: mode is header, source or schema" > "/dev/stderr"
        failed = 1
        exit 1
    }
}

mode == "schema" {
    schema = schema "\n    \"" quoted($0) "\\n\""
    next
}

FNR == 1 {
    finish_query()
    dialect = ""
    if (match(FILENAME, /(sqlite|postgres)\/queries\/[^\/]*$/))
        dialect = substr(FILENAME, RSTART, index(substr(FILENAME, RSTART), "/") - 1)
    if (dialect == "")
        fail("a query file lies in sql/sqlite/queries or sql/postgres/queries")
    dialects[dialect] = 1
}

/^-- [a-z_]+:/ {
    word = $2
    rest = $0
    sub(/^-- [a-z_]+: */, "", rest)
    sub(/ +$/, "", rest)
    if (word == "name:")
        start_query(rest)
    else if (q == "")
        fail("\"" word "\" before the first \"-- name:\"")
    else if (word == "params:")
        columns(rest, 1)
    else if (word == "returns:")
        columns(rest, 0)
    else if (word == "part:")
        start_part(rest)
    else if (word == "key:")
        set_key(rest)
    else if (word == "reads:")
        set_reads(rest)
    else
        fail("unknown header \"" word "\"; known are name params returns part key reads")
    next
}
/^--/ || /^[ \t]*$/ { next } # a comment: a line that does not begin with "-- word:"

{ add_sql($0) }

END {
    if (failed)
        exit 1
    if (mode == "schema") {
        print "/* Generated from sql/sqlite/schema by sql/embed.awk. */"
        print "extern const char *const sqlite_schema;"
        print "const char *const sqlite_schema =" schema ";"
        exit 0
    }
    finish_query()
    compare_dialects()
    if (mode == "header")
        write_header()
    else
        write_source()
}

function fail(message) { fail_at(FILENAME ":" FNR, message) }

function fail_at(where, message) {
    print where ": " message > "/dev/stderr"
    failed = 1
    exit 1
}

# ---- reading ----

function start_query(rest, name, note) {
    finish_query()
    if (rest !~ /^[A-Z][A-Za-z0-9]* :[a-z]+$/)
        fail("expected \"-- name: QueryName :annotation\"")
    name = substr(rest, 1, index(rest, " ") - 1)
    note = substr(rest, index(rest, ":") + 1)
    if (!(note in annotations))
        fail("unknown annotation \":" note "\"; known are exec execrows batchexec one many")
    q = dialect SUBSEP name
    if (q in place)
        fail("query \"" name "\" stands twice; first in " place[q])
    place[q] = FILENAME ":" FNR
    annotation[q] = note
    param_count[q] = result_count[q] = part_count[q] = 0
    order[dialect, ++query_count[dialect]] = name
}

# "tenant_id uuid, day date": parameters (is_param) or results
function columns(text, is_param, n, i, item, pair) {
    if (part_count[q])
        fail("parameters and results come before the first part")
    n = split(text, item, /, */)
    for (i = 1; i <= n; i++) {
        if (item[i] == "" && i == n)
            continue # a comma at the end of the line: more follow
        if (split(item[i], pair, " ") != 2 || pair[1] !~ /^[a-z][a-z0-9_]*$/)
            fail("expected \"name type\", not \"" item[i] "\"")
        if (!(pair[2] in types))
            fail("unknown type \"" pair[2] "\" of \"" pair[1] "\"")
        if (is_param && (q, "number", pair[1]) in param)
            fail("parameter \"" pair[1] "\" stands twice")
        if (is_param) {
            param[q, ++param_count[q]] = pair[1]
            param_type[q, param_count[q]] = pair[2]
            param[q, "number", pair[1]] = param_count[q]
        } else {
            result[q, ++result_count[q]] = pair[1]
            result_type[q, result_count[q]] = pair[2]
        }
    }
    if (param_count[q] > 24 || result_count[q] > 24)
        fail("more than 24 columns (QUERY_COLUMNS_MAX)")
}

function start_part(rest, pair, n, p) {
    finish_part()
    n = split(rest, pair, " ")
    if (n < 1 || n > 2 || !(pair[1] in kinds))
        fail("expected \"-- part: kind [table]\", not \"" rest "\"")
    p = ++part_count[q]
    if (p > 12)
        fail("more than 12 parts (QUERY_PARTS_MAX)")
    kind[q, p] = pair[1]
    table[q, p] = pair[2]
    key_count[q, p] = 0
    sql[q, p] = ""
    part_place = FILENAME ":" FNR
    if ((pair[2] != "") == (pair[1] ~ /^(tx|shared|exclusive|try)$/))
        fail(pair[1] (pair[2] == "" ? " needs a table" : " has no table"))
}

function set_key(rest, column, n, i) {
    if (!part_count[q])
        fail("a key belongs to a part")
    n = split(rest, column, " ")
    if (n < 1 || n > 8)
        fail("a key has 1 to 8 columns (QUERY_KEY_MAX)")
    for (i = 1; i <= n; i++) {
        if (!((q, "number", column[i]) in param))
            fail("key column \"" column[i] "\" is not a parameter")
        key[q, part_count[q], i] = param[q, "number", column[i]] - 1
    }
    key_count[q, part_count[q]] = n
}

function set_reads(rest) {
    if (!part_count[q])
        fail("reads belongs to a part")
    if (rest !~ /^[a-z_]+( [a-z_]+)*$/)
        fail("expected table names separated by one space")
    reads[q, part_count[q]] = rest
}

# one line of SQL: parameters become numbers, comments behind it go
function add_sql(line, n, piece, i, out, p) {
    if (q == "" || !part_count[q])
        fail("SQL before \"-- part:\"")
    p = part_count[q]
    if (sql[q, p] ~ /;\n$/)
        fail("a part holds one statement, which ends with \";\"")
    n = split(line, piece, "'")
    out = ""
    for (i = 1; i <= n; i++) { # odd pieces lie outside of quotes
        if (i % 2 == 1) {
            if (match(piece[i], /--/)) {
                out = out numbered(substr(piece[i], 1, RSTART - 1))
                n = i
                break
            }
            piece[i] = numbered(piece[i])
        }
        out = out piece[i] (i < n ? "'" : "")
    }
    if (n % 2 == 0)
        fail("a quoted string must end on its line")
    sub(/[ \t]+$/, "", out)
    sql[q, p] = sql[q, p] out "\n"
}

function numbered(text, out, name) {
    if (text ~ /[A-Z]/)
        fail("SQL is written in lower case")
    out = ""
    while (match(text, /:[a-z][a-z0-9_]*/)) {
        name = substr(text, RSTART + 1, RLENGTH - 1)
        if (RSTART > 1 && substr(text, RSTART - 1, 1) == ":") { # a cast, x::bigint
            out = out substr(text, 1, RSTART + RLENGTH - 1)
        } else {
            if (!((q, "number", name) in param))
                fail("\":" name "\" is not a parameter of this query")
            used[q, name] = 1
            out = out substr(text, 1, RSTART - 1) (dialect == "sqlite" ? "?" : "$") \
                param[q, "number", name]
        }
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}

# Locks and transactions are the business of the connection on SQLite: no SQL. It has no roles.
function without_sql(p) {
    return dialect == "sqlite" && kind[q, p] ~ /^(tx|shared|exclusive|try|relation)$/
}

function finish_part(p, k) {
    p = part_count[q]
    if (!p)
        return
    k = kind[q, p]
    if (without_sql(p) && sql[q, p] != "")
        fail_at(part_place, k " has no SQL in this dialect")
    if (!without_sql(p) && sql[q, p] !~ /;\n$/)
        fail_at(part_place, "the part has no statement that ends with \";\"")
    if ((k == "insert" || k == "upsert") && !key_count[q, p])
        fail_at(part_place, k " needs a \"-- key:\"")
    if (k !~ /^(insert|upsert|read|delete)$/ && key_count[q, p])
        fail_at(part_place, k " has no key")
    if (k ~ /^(shared|exclusive|try)$/ && param_type[q, param[q, "number", "lock"]] != "int")
        fail_at(part_place, k " needs a parameter \"lock int\"")
    if (k == "try" &&
        (result_count[q] != 1 || result[q, 1] " " result_type[q, 1] != "granted bool"))
        fail_at(part_place, "try returns \"granted bool\"")
}

function finish_query(i, p, free) {
    if (q == "")
        return
    finish_part()
    if (!part_count[q])
        fail_at(place[q], "the query has no part")
    if ((annotation[q] == "one" || annotation[q] == "many") != (result_count[q] > 0))
        fail_at(place[q], ":" annotation[q] \
            (result_count[q] ? " returns nothing" : " needs \"-- returns:\""))
    for (p = 1; p <= part_count[q]; p++)
        if (without_sql(p))
            free = 1 # what a lock takes is not seen in SQL
    for (i = 1; i <= param_count[q]; i++)
        if (!free && !((q, param[q, i]) in used))
            fail_at(place[q], "parameter \"" param[q, i] "\" is not used")
    q = ""
}

function columns_text(id, i, text) {
    text = ":" annotation[id] " ("
    for (i = 1; i <= param_count[id]; i++)
        text = text (i > 1 ? ", " : "") param[id, i] " " param_type[id, i]
    text = text ") returns ("
    for (i = 1; i <= result_count[id]; i++)
        text = text (i > 1 ? ", " : "") result[id, i] " " result_type[id, i]
    return text ")"
}

function compare_dialects(a, b, i, name) {
    for (a in dialects)
        for (b in dialects)
            for (i = 1; a != b && i <= query_count[a]; i++) {
                name = order[a, i]
                if (!((b, name) in place))
                    fail_at(place[a, name], "query \"" name "\" has no text in dialect " b)
                if (columns_text(a SUBSEP name) != columns_text(b SUBSEP name))
                    fail_at(place[a, name], "query \"" name "\" is " columns_text(a SUBSEP name) \
                        " here and " columns_text(b SUBSEP name) " in " place[b, name])
            }
    if (!query_count["sqlite"])
        fail_at("embed.awk", "no query in sql/sqlite/queries")
}

# ---- writing ----

function enum_name(name, i, c, out) {
    out = "QUERY"
    for (i = 1; i <= length(name); i++) {
        c = substr(name, i, 1)
        out = out (c ~ /[A-Z]/ ? "_" : "") toupper(c)
    }
    return out
}

function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return text
}

function write_header(i) {
    print "/* Generated from sql/ by sql/embed.awk; included by core/store/call.h. */"
    print "#ifndef GEN_QUERIES_H\n#define GEN_QUERIES_H\n"
    print "enum query_id {"
    for (i = 1; i <= query_count["sqlite"]; i++)
        print "    " enum_name(order["sqlite", i]) ","
    print "    QUERY_COUNT\n};\n"
    print "extern const struct query queries[QUERY_COUNT];\n\n#endif"
}

function write_columns(label, names, kind_of, count, id, i) {
    if (!count)
        return
    printf "        .%s_count = %d,\n        .%ss = {", label, count, label
    for (i = 1; i <= count; i++)
        printf "%s{\"%s\", %s}", (i > 1 ? ", " : ""), names[id, i], types[kind_of[id, i]]
    print "},"
}

# The SQL of another dialect goes beside .sqlite here, into a member of its own.
function write_part(id, p, i, line, n) {
    printf "            {.kind = %s, .table = \"%s\", .reads = \"%s\"", kinds[kind[id, p]], \
        table[id, p], reads[id, p]
    if (key_count[id, p]) {
        printf ",\n             .key_count = %d, .key = {", key_count[id, p]
        for (i = 1; i <= key_count[id, p]; i++)
            printf "%s%d", (i > 1 ? ", " : ""), key[id, p, i]
        printf "}"
    }
    printf ",\n             .sqlite = \"\""
    n = split(sql[id, p], line, "\n")
    for (i = 1; i < n; i++)
        printf "\n                 \"%s%s\"", quoted(line[i]), (i < n - 1 ? "\\n" : "")
    print "},"
}

function write_source(i, p, id) {
    print "/* Generated from sql/ by sql/embed.awk. */"
    print "#include \"core/store/call.h\"\n\nconst struct query queries[QUERY_COUNT] = {"
    for (i = 1; i <= query_count["sqlite"]; i++) {
        id = "sqlite" SUBSEP order["sqlite", i]
        print "    [" enum_name(order["sqlite", i]) "] = {"
        print "        .name = \"" order["sqlite", i] "\", .kind = " kinds[kind[id, 1]] ","
        write_columns("param", param, param_type, param_count[id], id)
        write_columns("result", result, result_type, result_count[id], id)
        print "        .part_count = " part_count[id] ",\n        .parts = {"
        for (p = 1; p <= part_count[id]; p++)
            write_part(id, p)
        print "        },\n    },"
    }
    print "};"
}
