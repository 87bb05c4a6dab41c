# Builds tmeter for `pip install .`, and fetches what the machine lacks for that. What cannot be had of LibTorch
# and Node.js is left out, and the program says what is missing when it is asked for.
option(TMETER_FETCH "Fetch libraries and npm packages that are missing" ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(TMETER_TESTS OFF CACHE BOOL "" FORCE)

# Where ./dev setup puts its downloads.
set(cache "$ENV{XDG_CACHE_HOME}")
if(NOT cache)
  set(cache "$ENV{HOME}/.cache")
endif()
set(repository "${CMAKE_CURRENT_SOURCE_DIR}/../..")
include(libraries.cmake)
include(page.cmake)
include(torch.cmake)

# The compiler is whichever is there; its new warnings are not the user's business.
set(TMETER_WERROR OFF)
# pip's ninja starts a job for each processor; what includes LibTorch's headers takes 2 GB.
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
cmake_host_system_information(RESULT megabytes QUERY AVAILABLE_PHYSICAL_MEMORY)
math(EXPR jobs "${megabytes} / 2048")
if(jobs LESS 1)
  set(jobs 1)
elseif(jobs GREATER processors)
  set(jobs ${processors})
endif()
set_property(GLOBAL PROPERTY JOB_POOLS compile=${jobs})
set(CMAKE_JOB_POOL_COMPILE compile)

add_subdirectory("${repository}" tmeter)
