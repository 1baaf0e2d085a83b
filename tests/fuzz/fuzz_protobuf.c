/* libFuzzer target: a payload in OTLP protobuf. See README.md. */
#include "tests/fuzz/fuzz_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_payload(data, size, PAYLOAD_PROTOBUF);
}
