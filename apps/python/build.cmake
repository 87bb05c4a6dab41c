# Builds tmeter for `pip install .`. What cannot be found of LibTorch and Node.js is left out, and the
# program says what is missing when it is asked for.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(TMETER_TESTS OFF CACHE BOOL "" FORCE)

# Where ./dev setup puts its downloads.
set(cache "$ENV{XDG_CACHE_HOME}")
if(NOT cache)
  set(cache "$ENV{HOME}/.cache")
endif()
if(NOT DEFINED TMETER_NODE_MODULES)
  file(GLOB packages "${cache}/tmeter/page-*/node_modules")
  list(APPEND packages "")
  list(GET packages 0 packages)
  if(packages)
    set(TMETER_NODE_MODULES "${packages}" CACHE PATH "")
  endif()
endif()
file(GLOB nodes "${cache}/tmeter/node-*/bin")
list(APPEND CMAKE_PROGRAM_PATH ${nodes})

set(repository "${CMAKE_CURRENT_SOURCE_DIR}/../..")
list(PREPEND CMAKE_MODULE_PATH "${repository}/plugins/torch_backend/cmake")
find_package(LibTorch 2.6 QUIET)
if(NOT LibTorch_FOUND AND NOT DEFINED TMETER_TORCH)
  message(STATUS "No LibTorch: TorchScript files will not be read. ./dev setup downloads it.")
  set(TMETER_TORCH OFF CACHE BOOL "" FORCE)
endif()

add_subdirectory("${repository}" tmeter)
