# metersim: see README.md. `make run` and `make check` are all a newcomer needs.
#
#   make             ./metersim
#   make run         the whole scenario suite on SQLite
#   make check       every check: layers, rule ids, unit tests, suite
#   make asan        the same tests under address and undefined-behaviour sanitizers
#   make mutants     planted defects, each of which a test must catch
#   make bench       figures and ratios
#   make fuzzers     libFuzzer targets into build/fuzz (clang)
#   make deps        installs what is missing (root), else prints the command
#
# Variables: CC, MODE=release|debug|asan, NO_DEPS=1 (never install), V=1 (show commands).

MODE ?= release
BUILD := build/$(MODE)
CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
Q := $(if $(V),,@)

CFLAGS_release := -O2 -g
CFLAGS_debug := -O0 -g
CFLAGS_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
WARN := -Wall -Wextra -Werror -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -ffp-contract=off $(WARN) $(CFLAGS_$(MODE)) -I. -I$(BUILD) \
	-DSQLITE_ENABLE_PREUPDATE_HOOK $(CFLAGS)
LIBS := -lsqlite3 -lcrypto -lprotobuf-c -ljansson -lxxhash -lm -lpthread $(LDFLAGS)

GEN := $(BUILD)/gen
QUERY_FILES := $(sort $(wildcard sql/*/queries/*.sql))
SCHEMA_FILES := $(sort $(wildcard sql/sqlite/schema/*.sql))
CORE_SRC := $(sort $(shell find core -name '*.c'))
SIM_SRC := $(sort $(shell find sim -name '*.c' ! -path 'sim/cli/main.c'))
TEST_SRC := $(sort $(shell find tests/core tests/sim -name '*.c' ! -path '*/differential/*'))
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/%.o) $(GEN)/queries.o $(GEN)/schema.o $(GEN)/otlp.pb-c.o
SIM_OBJ := $(SIM_SRC:%.c=$(BUILD)/%.o) $(GEN)/rule_ids.o
TEST_OBJ := $(TEST_SRC:%.c=$(BUILD)/%.o) $(GEN)/suites.o
GEN_HEADERS := $(GEN)/queries.h $(GEN)/otlp.pb-c.h

.PHONY: all run check asan mutants bench fuzzers deps layers format clean unit
all: metersim

# Each package and why: make, gcc: the build. libsqlite3: the fast backend, with the preupdate hook
# that Debian builds in. libssl: SHA-256. libprotobuf-c and its compiler: OTLP from a .proto with an
# allocator of our own (an arena), which nanopb and upb lack in Debian. libjansson: OTLP/JSON with a
# depth limit. libxxhash: the hash of traces. check: unit tests. pkg-config: check's flags.
# procps and binutils come with the base and gcc.
DEPS := make gcc libc6-dev pkg-config libsqlite3-dev libssl-dev libprotobuf-c-dev \
	protobuf-c-compiler libjansson-dev libxxhash-dev check
deps:
	$(Q)bash tests/need.sh $(DEPS)

metersim: $(BUILD)/metersim
	$(Q)cp -f $< $@

$(BUILD)/metersim: $(BUILD)/sim/cli/main.o $(SIM_OBJ) $(BUILD)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS)

# core stands alone: its library knows no simulator (make layers proves it)
$(BUILD)/libcore.a: $(CORE_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

# an archive, so that a test takes only what it names: not the command line, whose main is its own
$(BUILD)/libsim.a: $(SIM_OBJ)
	$(Q)rm -f $@ && ar rcs $@ $^

$(BUILD)/unit: $(TEST_OBJ) $(BUILD)/libsim.a $(BUILD)/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $^ $(LIBS) $(shell pkg-config --libs check 2>/dev/null)

$(BUILD)/%.o: %.c | $(GEN_HEADERS)
	$(Q)mkdir -p $(dir $@)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# generated code is not ours to warn about
$(GEN)/%.o: $(GEN)/%.c | $(GEN_HEADERS)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-conversion -Wno-missing-prototypes \
		-Wno-missing-braces -c -o $@ $<

$(GEN)/queries.h $(GEN)/queries.c &: sql/embed.awk $(QUERY_FILES) Makefile
	$(Q)mkdir -p $(GEN)
	$(Q)awk -f sql/embed.awk -v mode=header $(QUERY_FILES) > $(GEN)/queries.h.tmp
	$(Q)awk -f sql/embed.awk -v mode=source $(QUERY_FILES) > $(GEN)/queries.c.tmp
	$(Q)cmp -s $(GEN)/queries.h.tmp $(GEN)/queries.h || mv $(GEN)/queries.h.tmp $(GEN)/queries.h
	$(Q)mv $(GEN)/queries.c.tmp $(GEN)/queries.c

$(GEN)/schema.c: sql/embed.awk $(SCHEMA_FILES) Makefile
	$(Q)mkdir -p $(GEN)
	$(Q)awk -f sql/embed.awk -v mode=schema $(SCHEMA_FILES) > $@.tmp && mv $@.tmp $@

# the rules that a scenario may cite
$(GEN)/rule_ids.c: sim/scenario/rule_ids.awk core/CONTRACT.md Makefile
	$(Q)mkdir -p $(GEN)
	$(Q)awk -f sim/scenario/rule_ids.awk core/CONTRACT.md > $@.tmp && mv $@.tmp $@

$(GEN)/otlp.pb-c.h $(GEN)/otlp.pb-c.c &: core/otlp/otlp.proto Makefile
	$(Q)mkdir -p $(GEN)
	$(Q)protoc-c --proto_path=core/otlp --c_out=$(GEN) core/otlp/otlp.proto

# every `Suite *x_suite(void)` of a test file is run; no list to keep
$(GEN)/suites.c: tests/suites.awk $(TEST_SRC) Makefile
	$(Q)mkdir -p $(GEN)
	$(Q)awk -f tests/suites.awk $(TEST_SRC) > $@.tmp && mv $@.tmp $@

unit: $(BUILD)/unit

run: deps
	$(Q)$(MAKE) -s --no-print-directory metersim
	$(Q)./metersim run

check: deps
	$(Q)$(MAKE) -s --no-print-directory -j2 $(BUILD)/unit $(BUILD)/metersim
	$(Q)bash tests/check.sh $(BUILD) $(CC)

asan: deps
	$(Q)$(MAKE) -s --no-print-directory -j2 MODE=asan build/asan/unit build/asan/metersim
	$(Q)build/asan/metersim run
	$(Q)bash tests/asan.sh build/asan/unit

mutants: deps
	$(Q)bash tests/need.sh patch
	$(Q)bash tests/mutants.sh

bench: deps
	$(Q)$(MAKE) -s --no-print-directory metersim
	$(Q)./metersim bench

# libFuzzer targets; how to run one: tests/fuzz/README.md
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
fuzzers:
	$(Q)bash tests/need.sh clang libclang-rt-14-dev
	$(Q)$(MAKE) -s --no-print-directory MODE=fuzz CC=clang $(FUZZ_TARGETS)
	$(Q)bash tests/fuzz/corpus.sh build/fuzz/corpus

.SECONDARY: $(FUZZ_TARGETS:build/fuzz/%=build/fuzz/tests/fuzz/%.o)
build/fuzz/fuzz_%: build/fuzz/tests/fuzz/fuzz_%.o build/fuzz/libsim.a build/fuzz/libcore.a
	$(Q)$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

layers: $(BUILD)/libcore.a
	$(Q)bash tests/layers.sh . $(BUILD)/libcore.a && bash tests/layers_test.sh $(CC)

clean:
	rm -rf build metersim

format:
	clang-format -i $(shell find core sim tests -name '*.[ch]')

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
