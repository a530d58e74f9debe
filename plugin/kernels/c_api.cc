#include "plugin/c_api.h"

#include "plugin/c_buffer.h"
#include "plugin/kernels/statistics.h"

hpu_buffer hpu_statistics(void) { return hpu::MakeBuffer(hpu::Statistics::Get().ToJson()); }

hpu_buffer hpu_statistics_table(void) { return hpu::MakeBuffer(hpu::Statistics::Get().ToTable()); }

void hpu_statistics_reset(void) { hpu::Statistics::Get().Reset(); }
