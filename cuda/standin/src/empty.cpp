// A library that only has to be there for others: cuBLASLt, cuSPARSE, nvJitLink.
extern "C" __attribute__((visibility("default"))) int standin_empty(void) { return 0; }
