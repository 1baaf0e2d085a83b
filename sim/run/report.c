#include "sim/run/report.h"

#include "core/base/assert.h"
#include "sim/base/json.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {"pass", "fail", "nondeterministic", "not_judged"};
    ASSERT((size_t)verdict < sizeof(names) / sizeof(names[0]));
    return names[verdict];
}

static size_t kept(const struct run_result *result)
{
    return result->failure_count < RUN_FAILURES_MAX ? result->failure_count : RUN_FAILURES_MAX;
}

/* A word of a shell command: in double quotes where it holds a blank. */
static const char *quote_of(const char *word)
{
    return strpbrk(word, " \t") != NULL ? "\"" : "";
}

/* The command that makes the same run again. */
static void write_repeat(FILE *out, const struct report *report)
{
    const char *quote = quote_of(report->scenario);
    fprintf(out, "./metersim run %s%s%s --seed %" PRIu64, quote, report->scenario, quote,
            report->seed);
    if (report->rules_text != NULL)
        fprintf(out, " --rules=%s%s%s", quote_of(report->rules_text), report->rules_text,
                quote_of(report->rules_text));
}

void report_text(FILE *out, const struct report *report, bool passed_too)
{
    const struct run_result *result = report->result;
    if (report->verdict == VERDICT_PASS && !passed_too)
        return;
    fprintf(out, "%s %s  seed %" PRIu64 "  trace %016" PRIx64 "  %" PRIu64 " steps\n",
            verdict_name(report->verdict), report->scenario, report->seed, result->trace_hash,
            result->steps);
    for (size_t i = 0; i < kept(result); i++)
        fprintf(out, "  %s: %s\n", result->failures[i].kind, result->failures[i].text);
    if (result->failure_count > kept(result))
        fprintf(out, "  and %zu more failures\n", result->failure_count - kept(result));
    if (report->verdict == VERDICT_PASS)
        return;
    fputs("  repeat: ", out);
    write_repeat(out, report);
    fputc('\n', out);
}

static void write_member(FILE *out, const char *before, const char *name, const char *text)
{
    fprintf(out, "%s\"%s\":", before, name);
    json_write_text(out, text);
}

static void write_failure(FILE *out, const struct run_failure *failure)
{
    write_member(out, "{", "kind", failure->kind);
    write_member(out, ",", "where", failure->where);
    write_member(out, ",", "cell", failure->cell);
    write_member(out, ",", "expected", failure->expected);
    write_member(out, ",", "got", failure->got);
    write_member(out, ",", "text", failure->text);
    fputc('}', out);
}

void report_json(FILE *out, const struct report *report, bool first)
{
    const struct run_result *result = report->result;
    write_member(out, first ? "{" : ",{", "name", report->scenario);
    write_member(out, ",", "backend", report->backend);
    fprintf(out,
            ",\"seed\":%" PRIu64 ",\"verdict\":\"%s\",\"trace_hash\":\"%016" PRIx64
            "\",\"steps\":%" PRIu64 ",\"virtual_ns\":%" PRId64 ",\"real_ns\":%" PRId64
            ",\"failures\":[",
            report->seed, verdict_name(report->verdict), result->trace_hash, result->steps,
            result->virtual_ns, report->real_ns);
    for (size_t i = 0; i < kept(result); i++) {
        fputs(i > 0 ? "," : "", out);
        write_failure(out, &result->failures[i]);
    }
    fprintf(out, "],\"failures_left_out\":%zu", result->failure_count - kept(result));
    char *repeat = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&repeat, &size);
    if (text != NULL) {
        write_repeat(text, report);
        fclose(text);
        write_member(out, ",", "repeat", repeat);
    }
    free(repeat);
    fputc('}', out);
}
