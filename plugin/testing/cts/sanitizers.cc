// Defaults of the sanitizers for this program; the environment (ASAN_OPTIONS, …) overrides them.

// TensorFlow is not instrumented and keeps its registries until the end of the process.
extern "C" const char* __lsan_default_suppressions() { return "leak:libtensorflow\nleak:libprotobuf\n"; }

extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libtensorflow\n"; }

extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1:halt_on_error=1"; }
