# tmeter_add_plugin(NAME SOURCES… [LIBRARIES lib…])
#
# Builds NAME.tmeter: a module with hidden visibility and exactly one exported symbol. All other
# symbols are resolved at link time. Also writes NAME.tmeter.toml, the manifest from which tmeter reads the
# plugin's capabilities without opening it. Works in the same way in tmeter and in other projects.
# With -fsanitize in the flags, symbols of the sanitizer's runtime stay undefined: clang links them into the program.
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
    set(flags "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS}")
    if(NOT TMETER_SANITIZE AND NOT flags MATCHES "-fsanitize")
      target_link_options(${name} PRIVATE "LINKER:-z,defs")
    endif()
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${version_script}")
  endif()
  tmeter_add_manifest(${name})
endfunction()

# Without a tmeter that can run here (or when compiling for another machine) there is no manifest:
# tmeter then opens the plugin to read its capabilities.
function(tmeter_add_manifest name)
  if(TARGET tmeter)
    set(tool tmeter)
    add_dependencies(${name} tmeter)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND "${tool}" plugin manifest "$<TARGET_FILE:${name}>" --output "$<TARGET_FILE:${name}>.toml"
      VERBATIM)
    return()
  endif()
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  find_program(TMETER_EXECUTABLE tmeter HINTS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../../bin"
    DOC "Writes the manifests of plugins")
  if(TMETER_EXECUTABLE)
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND "${CMAKE_COMMAND}" "-DTOOL=${TMETER_EXECUTABLE}" "-DLIBRARY=$<TARGET_FILE:${name}>"
        -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tmeter_write_manifest.cmake"
      VERBATIM)
  endif()
endfunction()
