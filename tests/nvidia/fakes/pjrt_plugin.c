// Fake PJRT plugin with only a version: cc -DMINOR=115. -DCRASH aborts the process at load.
#include <stddef.h>
#include <stdlib.h>

struct Version {
  size_t struct_size;
  void* extension_start;
  int major_version;
  int minor_version;
};

struct Api {
  size_t struct_size;
  void* extension_start;
  struct Version version;
};

#ifdef CRASH
__attribute__((constructor)) static void Crash(void) { abort(); }
#endif

const struct Api* GetPjrtApi(void) {
  static const struct Api api = {sizeof(struct Api), NULL, {sizeof(struct Version), NULL, 0, MINOR}};
  return &api;
}
