// Defaults of the sanitizers for this program; the environment (ASAN_OPTIONS, …) overrides them.

// The runtimes are shared libraries, which find only exported functions.
#define SANITIZER_DEFAULT extern "C" __attribute__((visibility("default"))) const char*

// TensorFlow is not instrumented and keeps its registries until the end of the process.
SANITIZER_DEFAULT __lsan_default_suppressions() { return "leak:libtensorflow\nleak:libprotobuf\n"; }

// ThreadSanitizer does not see the locks of libraries that were built without it.
SANITIZER_DEFAULT __tsan_default_suppressions() {
  return "called_from_lib:libtensorflow_cc\ncalled_from_lib:libtensorflow_framework\n"
         "race:libtensorflow\nrace:pjrt_c_api_cpu_plugin.so\nrace:xla_cpu_pjrt.so\n";
}

// Tests fork, and end processes by signals.
SANITIZER_DEFAULT __tsan_default_options() {
  return "die_after_fork=0:handle_abort=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
}

SANITIZER_DEFAULT __ubsan_default_options() { return "print_stacktrace=1:halt_on_error=1"; }
