// HLO modules from text, for tests of recognisers.
#ifndef HPU_PLUGIN_BACKENDS_COMMON_HLO_PARSED_MODULE_H_
#define HPU_PLUGIN_BACKENDS_COMMON_HLO_PARSED_MODULE_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/parser/hlo_parser.h"

namespace hpu::hlo {

class ParsedModule {
 public:
  // `text` is a whole module without its first line.
  explicit ParsedModule(absl::string_view text) {
    auto parsed = xla::ParseAndReturnUnverifiedModule(absl::StrCat("HloModule test\n", text));
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    if (parsed.ok()) module_ = *std::move(parsed);
  }

  xla::HloModule* module() const { return module_.get(); }
  const xla::HloInstruction* root() const { return module_->entry_computation()->root_instruction(); }
  // The instruction of the entry computation with this name; fails the test if there is none.
  const xla::HloInstruction* Named(absl::string_view name) const {
    const xla::HloInstruction* found = nullptr;
    for (const xla::HloInstruction* instruction : module_->entry_computation()->instructions()) {
      if (instruction->name() == name) found = instruction;
    }
    EXPECT_NE(found, nullptr) << name;
    return found;
  }

 private:
  std::unique_ptr<xla::HloModule> module_;
};

}  // namespace hpu::hlo

#endif  // HPU_PLUGIN_BACKENDS_COMMON_HLO_PARSED_MODULE_H_
