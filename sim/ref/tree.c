#include "sim/ref/tree.h"

#include <stdlib.h>

bool tree_metric_is_ours(struct bytes name)
{
    return bytes_equal(name, bytes_of(TREE_METRIC_DURATION)) ||
           bytes_equal(name, bytes_of(TREE_METRIC_SPANS));
}

const struct tree_attribute *tree_find(const struct list *attributes, const char *key)
{
    const struct tree_attribute *attribute;
    for (LIST_EACH(attribute, attributes))
        if (bytes_equal(attribute->key, bytes_of(key)))
            return attribute;
    return NULL;
}

static void free_metrics(struct list *metrics)
{
    struct tree_metric *metric;
    for (LIST_EACH(metric, metrics)) {
        struct tree_point *point;
        for (LIST_EACH(point, &metric->points)) {
            list_free(&point->attributes);
            list_free(&point->buckets);
            list_free(&point->bounds);
        }
        list_free(&metric->points);
    }
    list_free(metrics);
}

void tree_free(struct tree *tree)
{
    struct tree_resource *resource;
    for (LIST_EACH(resource, &tree->resources)) {
        struct tree_scope *scope;
        for (LIST_EACH(scope, &resource->scopes))
            free_metrics(&scope->metrics);
        list_free(&resource->scopes);
        list_free(&resource->attributes);
    }
    list_free(&tree->resources);
    uint8_t **text;
    for (LIST_EACH(text, &tree->texts))
        free(*text);
    list_free(&tree->texts);
}
