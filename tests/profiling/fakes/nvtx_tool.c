// A tool that reads NVTX, as Nsight Systems does: writes a line for each event to the file in NVTX_TOOL_FILE. Programs load
// it by NVTX_INJECTION64_PATH.
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>

static FILE* file;
static nvtxRangeId_t last_range;
static char domain;

static nvtxDomainHandle_t NVTX_API DomainCreate(const char* name) {
  fprintf(file, "domain\t%s\n", name);
  return (nvtxDomainHandle_t)&domain;
}

static void NVTX_API NameCategory(nvtxDomainHandle_t in, uint32_t category, const char* name) {
  fprintf(file, "category\t%u\t%s\n", category, name);
}

static nvtxRangeId_t NVTX_API RangeStart(nvtxDomainHandle_t in, const nvtxEventAttributes_t* attributes) {
  const nvtxRangeId_t id = __atomic_add_fetch(&last_range, 1, __ATOMIC_SEQ_CST);
  fprintf(file, "start\t%lu\t%u\t%lu\t%s\n", (unsigned long)id, attributes->category,
          (unsigned long)attributes->payload.ullValue, attributes->message.ascii);
  return id;
}

static void NVTX_API RangeEnd(nvtxDomainHandle_t in, nvtxRangeId_t id) {
  fprintf(file, "end\t%lu\n", (unsigned long)id);
  fflush(file);
}

NVTX_DYNAMIC_EXPORT int NVTX_API InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableCallbacks* callbacks = (const NvtxExportTableCallbacks*)get_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table = NULL;
  unsigned int size = 0;
  if (callbacks == NULL || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
  file = fopen(getenv("NVTX_TOOL_FILE"), "w");
  if (file == NULL || size <= NVTX_CBID_CORE2_DomainRangeEnd) return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)DomainCreate;
  *table[NVTX_CBID_CORE2_DomainNameCategoryA] = (NvtxFunctionPointer)NameCategory;
  *table[NVTX_CBID_CORE2_DomainRangeStartEx] = (NvtxFunctionPointer)RangeStart;
  *table[NVTX_CBID_CORE2_DomainRangeEnd] = (NvtxFunctionPointer)RangeEnd;
  return 1;
}
