// Included before all C++ sources, so that libraries built with GCC 12 or newer also load with GCC 11's libstdc++, which
// RHEL 9 and its relatives have. The newer version of this function differs only by `noexcept`.
#if defined(__x86_64__)
__asm__(
    ".symver _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE,"
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
#endif
