# find_package(tmeter-sdk 1) → tmeter::sdk (headers) and tmeter_add_plugin().
include("${CMAKE_CURRENT_LIST_DIR}/tmeter-sdk-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/tmeter_add_plugin.cmake")
