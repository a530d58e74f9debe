// Stands in for sysinfo(2): the free memory is FREE_GIB. Preloaded by test_memory.py.
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

int sysinfo(struct sysinfo* info) {
  memset(info, 0, sizeof *info);
  info->mem_unit = 1;
  info->freeram = strtoul(getenv("FREE_GIB"), NULL, 10) << 30;
  info->totalram = 2 * info->freeram;
  return 0;
}
