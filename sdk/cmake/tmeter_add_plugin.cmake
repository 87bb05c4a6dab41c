# tmeter_add_plugin(NAME SOURCES… [LIBRARIES lib…])
#
# Builds NAME.tmeter: a module with hidden visibility and exactly one exported symbol, every other
# symbol resolved at link time; and beside it NAME.tmeter.toml, the manifest from which tmeter knows
# what is inside without opening it. Works the same inside tmeter and in a stranger's project.
function(tmeter_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES")
  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE tmeter::sdk ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".tmeter"
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set(version_script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map")
  if(UNIX AND NOT APPLE)
    target_link_options(${name} PRIVATE
      "LINKER:--version-script=${version_script}")
    if(NOT TMETER_SANITIZE)
      target_link_options(${name} PRIVATE "LINKER:-z,defs")
    endif()
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${version_script}")
  endif()
  tmeter_add_manifest(${name})
endfunction()

# Without a tmeter that can run here (or when compiling for another machine) there is no manifest:
# tmeter then opens the plugin to see what it offers.
function(tmeter_add_manifest name)
  if(TARGET tmeter)
    set(tool tmeter)
    add_dependencies(${name} tmeter)
  elseif(NOT CMAKE_CROSSCOMPILING)
    find_program(TMETER_EXECUTABLE tmeter HINTS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin"
      DOC "Writes the manifests of plugins")
    set(tool "${TMETER_EXECUTABLE}")
  endif()
  if(tool)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND "${tool}" plugin manifest "$<TARGET_FILE:${name}>" --output "$<TARGET_FILE:${name}>.toml"
      VERBATIM)
  endif()
endfunction()
