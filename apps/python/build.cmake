# Builds tmeter for `pip install .`, and fetches missing prerequisites. If LibTorch or Node.js cannot be
# fetched, the parts that need it are left out, and the program reports that when one is requested.
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

# Any compiler may be installed; its new warnings do not concern the user.
set(TMETER_WERROR OFF)
# pip's ninja starts a job for each processor; a job with LibTorch's headers takes 2 GB.
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
