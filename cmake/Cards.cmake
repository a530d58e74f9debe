# Generates the table of cards from habana_frameworks/tensorflow/_internal/card_table.py.
set(card_data "${CMAKE_BINARY_DIR}/generated/plugin/base/cards/card_data.cc")
add_custom_command(
  OUTPUT "${card_data}"
  COMMAND "${Python3_EXECUTABLE}" "${CMAKE_SOURCE_DIR}/tools/generate_cards.py" --cpp
          "${CMAKE_BINARY_DIR}/generated/plugin/base/cards"
  DEPENDS "${CMAKE_SOURCE_DIR}/habana_frameworks/tensorflow/_internal/card_table.py"
          "${CMAKE_SOURCE_DIR}/tools/generate_cards.py"
  VERBATIM)
target_sources(hpu_base PRIVATE "${card_data}")
