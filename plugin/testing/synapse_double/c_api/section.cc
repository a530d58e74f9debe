// C functions: sections of graphs.
#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/graph/graph.h"
#include "plugin/testing/synapse_double/runtime/process.h"

namespace hpu::synapse {

using synapse_double::Graph;
using synapse_double::Handles;
using synapse_double::Report;
using synapse_double::Section;

namespace {

// Applies `set` to a live section and reports its verdict.
template <typename Set>
synStatus SetSectionProperty(synSectionHandle section, const Set& set) {
  std::shared_ptr<Section> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(section, &found));
  return Report(set(*found));
}

}  // namespace

synStatus synSectionCreate(synSectionHandle* section, uint64_t descriptor, const synGraphHandle graph) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(section);
  std::shared_ptr<Graph> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(graph, &found));
  if (descriptor != 0) {
    return synapse_double::Refuse(synapse_double::Rule::kArguments, synInvalidArgument,
                                  synapse_double::Text("section descriptor ", descriptor, ": expected 0"));
  }
  const std::shared_ptr<Section> created = found->AddSection();
  created->handle = Handles::Get().Add<synSectionHandle>(created);
  *section = created->handle;
  return synSuccess;
}

synStatus synSectionDestroy(synSectionHandle section) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Section> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(section, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Report(found->graph->RemoveSection(*found)));
  Handles::Get().Remove(section);
  return synSuccess;
}

synStatus synSectionSetPersistent(synSectionHandle section, bool persistent) {
  SYNAPSE_DOUBLE_CALL();
  return SetSectionProperty(section, [&](Section& found) { return found.SetPersistent(persistent); });
}

synStatus synSectionSetGroup(synSectionHandle section, uint64_t group) {
  SYNAPSE_DOUBLE_CALL();
  return SetSectionProperty(section, [&](Section& found) { return found.SetGroup(group); });
}

synStatus synSectionSetRMW(synSectionHandle section, bool read_modify_write) {
  SYNAPSE_DOUBLE_CALL();
  return SetSectionProperty(section, [&](Section& found) { return found.SetReadModifyWrite(read_modify_write); });
}

#ifndef SYNAPSE_DOUBLE_1_5
synStatus synSectionSetConst(synSectionHandle section, bool constant) {
  SYNAPSE_DOUBLE_CALL();
  return SetSectionProperty(section, [&](Section& found) { return found.SetConstant(constant); });
}
#endif

}  // namespace hpu::synapse
