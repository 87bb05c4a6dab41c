# LibTorch for `pip install .`: first the torch of the environment of the installation, although the build has
# an environment of its own; then the places of FindLibTorch.cmake.
list(PREPEND CMAKE_MODULE_PATH "${repository}/plugins/torch_backend/cmake")
if(Python3_EXECUTABLE)
  execute_process(COMMAND "${Python3_EXECUTABLE}" -c "import sysconfig; print(sysconfig.get_path('platlib'))"
    OUTPUT_VARIABLE site_packages OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(prefixes "${CMAKE_PREFIX_PATH}")
list(APPEND CMAKE_PREFIX_PATH "${site_packages}")
find_package(LibTorch 2.6 QUIET)
set(CMAKE_PREFIX_PATH "${prefixes}")  # torch contains headers of other libraries, too
if(LibTorch_FOUND)
  set(TMETER_TORCH_DIR "${LibTorch_ROOT}")
elseif(NOT DEFINED TMETER_TORCH)
  message(STATUS "No LibTorch: TorchScript files will not be read. Install torch first, then tmeter again.")
  set(TMETER_TORCH OFF CACHE BOOL "" FORCE)
endif()
