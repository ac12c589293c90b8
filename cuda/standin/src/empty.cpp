// A library that only has to exist, because others need it: cuBLASLt, cuSPARSE, nvJitLink.
extern "C" __attribute__((visibility("default"))) int standin_empty(void) { return 0; }
