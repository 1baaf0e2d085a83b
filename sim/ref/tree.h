/* One OTLP request as it came, before any check: what the two decoders make. Private to sim/ref.
 *
 * All memory belongs to the tree; texts may hold anything.
 */
#ifndef SIM_REF_TREE_H
#define SIM_REF_TREE_H

#include "sim/ref/list.h"
#include "sim/ref/ref.h"

enum tree_type { /* the numbers are those of the identity encoding */
                 TREE_ABSENT = 0,
                 TREE_STRING = 1,
                 TREE_BOOL = 2,
                 TREE_INT = 3,
                 TREE_DOUBLE = 4,
                 TREE_ARRAY = 5,  /* bytes: its OTLP protobuf encoding */
                 TREE_KVLIST = 6, /* the same */
                 TREE_BYTES = 7,
};

struct tree_attribute {
    struct bytes key;
    enum tree_type type;
    struct bytes bytes;
    int64_t integer; /* int, and bool as 0 or 1 */
    double number;
};

struct tree_point {
    struct list attributes; /* struct tree_attribute */
    /* explicit-bucket histograms only: */
    uint64_t start;
    uint64_t time;
    uint64_t count;
    bool has_sum;
    double sum;
    bool no_value;
    struct list buckets; /* uint64_t */
    struct list bounds;  /* double */
};

struct tree_metric {
    struct bytes name;
    struct bytes unit;
    bool is_histogram; /* with explicit buckets */
    int temporality;   /* 1 delta, 2 cumulative, anything else */
    struct list points;
};

struct tree_scope {
    struct bytes name;
    struct bytes version;
    struct list metrics;
};

struct tree_resource {
    struct list attributes;
    struct list scopes;
};

struct tree {
    struct list resources;
    struct list texts; /* uint8_t *: every copied text */
};

/* The metrics that are ours (R-DEC-2); of others a decoder may leave out the points. */
#define TREE_METRIC_DURATION "http.server.request.duration"
#define TREE_METRIC_SPANS    "scf.http.server.request.duration.from_spans"
bool tree_metric_is_ours(struct bytes name);

/* False: undecodable. The tree is to be freed either way. */
bool tree_read_protobuf(struct tree *tree, struct bytes payload);
bool tree_read_json(struct tree *tree, struct bytes payload);
void tree_free(struct tree *tree);

/* The first attribute with that key, or NULL. */
const struct tree_attribute *tree_find(const struct list *attributes, const char *key);

#endif
