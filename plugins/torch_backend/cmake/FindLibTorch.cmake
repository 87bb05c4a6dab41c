# FindLibTorch
# ------------
# Finds the CPU half of LibTorch: only libtorch_cpu and libc10.
#
# Why not find_package(Torch)? The config file in PyPI's wheels fails on a machine without the CUDA
# toolkit, and its target needs libtorch_cuda and with it gigabytes of NVIDIA libraries.
#
# Searches these places; the first hit wins:
#   1. TMETER_TORCH_DIR, CMake variable or environment variable: a folder with include/ and lib/,
#      e.g. …/site-packages/torch or an unpacked libtorch archive; no other place is tried then
#   2. CMAKE_PREFIX_PATH, CMake variable or environment variable: such a folder, its parent, or
#      the output of torch.utils.cmake_prefix_path (…/torch/share/cmake)
#   3. the active Python: the first python3 on PATH, if it has a recent torch (which is located, not
#      imported, because importing takes seconds)
#   4. the download of `./dev setup`: ${XDG_CACHE_HOME:-~/.cache}/tmeter/libtorch-*/torch, newest first
#
# Result variables
#   LibTorch_FOUND, LibTorch_VERSION (2.15.0), LibTorch_ROOT (the folder with include/ and lib/),
#   LibTorch_CXX11_ABI (1, or 0 for libraries built with the pre-2015 std::string),
#   LibTorch_RUNTIME_DIRS (the folders whose libraries are needed at run time)
#
# Imported targets
#   LibTorch::c10         libc10, the headers, and the definitions that every user has to share with it
#   LibTorch::torch_cpu   libtorch_cpu; includes LibTorch::c10
#
# The build tree gets its RPATH from the imported location. An installed plugin needs
# INSTALL_RPATH_USE_LINK_PATH or an INSTALL_RPATH from LibTorch_RUNTIME_DIRS. The CUDA runtime is found
# through libtorch_cpu's own RPATH, which names the nvidia/ folder beside torch/.

include(FindPackageHandleStandardArgs)

set(_LibTorch_minimum ${LibTorch_FIND_VERSION})
if(NOT _LibTorch_minimum)
  set(_LibTorch_minimum 2.6)
endif()

# Sets `out`: the folder with include/ and lib/libtorch_cpu.so for `path`, or "".
function(_LibTorch_folder path out)
  set(${out} "" PARENT_SCOPE)
  foreach(candidate IN ITEMS "${path}" "${path}/torch" "${path}/../..")
    if(EXISTS "${candidate}/lib/libtorch_cpu.so" AND EXISTS "${candidate}/include/ATen/ATen.h")
      get_filename_component(candidate "${candidate}" ABSOLUTE)
      set(${out} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# out ← "2.15.0" from the headers (the first since torch 2.9, the second before), or "".
function(_LibTorch_version root out)
  set(${out} "" PARENT_SCOPE)
  foreach(header IN ITEMS torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(EXISTS "${root}/include/${header}")
      file(STRINGS "${root}/include/${header}" lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
      string(REGEX MATCHALL "[0-9]+" numbers "${lines}")
      list(LENGTH numbers count)
      if(count EQUAL 3)
        list(JOIN numbers "." version)
        set(${out} "${version}" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
endfunction()

# out ← the folder of the torch package that the active Python would import, or "".
function(_LibTorch_from_python out)
  set(${out} "" PARENT_SCOPE)
  find_program(_LibTorch_python NAMES python3 python NO_CACHE)
  if(NOT _LibTorch_python)
    return()
  endif()
  execute_process(
    COMMAND "${_LibTorch_python}" -c
            "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${out} "${folder}" PARENT_SCOPE)
endfunction()

# out ← the folders made by `./dev setup`, newest version first.
function(_LibTorch_from_cache out)
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  file(GLOB folders "${cache}/tmeter/libtorch-*/torch")
  list(SORT folders COMPARE NATURAL ORDER DESCENDING)
  set(${out} "${folders}" PARENT_SCOPE)
endfunction()

set(_LibTorch_wanted "${TMETER_TORCH_DIR}")
if(NOT _LibTorch_wanted)
  set(_LibTorch_wanted "$ENV{TMETER_TORCH_DIR}")
endif()
if(_LibTorch_wanted)
  set(_LibTorch_candidates "${_LibTorch_wanted}")
  set(_LibTorch_looked_at "${_LibTorch_wanted}")
else()
  set(_LibTorch_looked_at "CMAKE_PREFIX_PATH, the torch of python3, the downloads of ./dev setup")
  string(REPLACE ":" ";" _LibTorch_environment "$ENV{CMAKE_PREFIX_PATH}")
  _LibTorch_from_python(_LibTorch_python_folder)
  _LibTorch_from_cache(_LibTorch_cache_folders)
  set(_LibTorch_candidates ${CMAKE_PREFIX_PATH} ${_LibTorch_environment} ${_LibTorch_python_folder}
                           ${_LibTorch_cache_folders})
endif()

set(LibTorch_ROOT "")
set(LibTorch_VERSION "")
foreach(_LibTorch_candidate IN LISTS _LibTorch_candidates)
  _LibTorch_folder("${_LibTorch_candidate}" LibTorch_ROOT)
  if(LibTorch_ROOT)
    _LibTorch_version("${LibTorch_ROOT}" LibTorch_VERSION)
    if(_LibTorch_wanted OR LibTorch_VERSION VERSION_GREATER_EQUAL _LibTorch_minimum)
      break()
    endif()
    message(VERBOSE "LibTorch ${LibTorch_VERSION} in ${LibTorch_ROOT} is too old")
    set(LibTorch_ROOT "")
    set(LibTorch_VERSION "")
  endif()
endforeach()

find_package_handle_standard_args(
  LibTorch
  REQUIRED_VARS LibTorch_ROOT
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE
    "Searched: ${_LibTorch_looked_at}. Run `./dev setup`, or pass -DTMETER_TORCH_DIR=<folder with include/ \
and lib/libtorch_cpu.so>")

if(NOT LibTorch_FOUND OR TARGET LibTorch::torch_cpu)
  return()
endif()

# Wheels up to 2.6 may be built with the old std::string; a mismatch shows only as unresolved
# symbols at the final link, or worse. The symbol of c10::Error's constructor distinguishes the two.
file(STRINGS "${LibTorch_ROOT}/lib/libc10.so" _LibTorch_symbol LIMIT_COUNT 1
     REGEX "^_ZN3c105ErrorC[12]ENS_14SourceLocationENSt7__cxx1112basic_string")
if(_LibTorch_symbol)
  set(LibTorch_CXX11_ABI 1)
  set(_LibTorch_definitions "")
else()
  set(LibTorch_CXX11_ABI 0)
  set(_LibTorch_definitions "_GLIBCXX_USE_CXX11_ABI=0")
endif()

# PyPI's wheels keep CUDA's own libraries in site-packages/nvidia/<part>/lib: cu13 since torch 2.9,
# cuda_runtime and cuda_cupti before. A CPU-only LibTorch does not need them.
file(GLOB _LibTorch_cuda_libraries "${LibTorch_ROOT}/../nvidia/*/lib/libcudart.so.*"
     "${LibTorch_ROOT}/../nvidia/*/lib/libcupti.so.*")
set(LibTorch_RUNTIME_DIRS "${LibTorch_ROOT}/lib")
foreach(_LibTorch_library IN LISTS _LibTorch_cuda_libraries)
  get_filename_component(_LibTorch_library "${_LibTorch_library}" REALPATH)
  get_filename_component(_LibTorch_library "${_LibTorch_library}" DIRECTORY)
  list(APPEND LibTorch_RUNTIME_DIRS "${_LibTorch_library}")
endforeach()
list(REMOVE_DUPLICATES LibTorch_RUNTIME_DIRS)

# -rpath-link lets the linker see the libraries that libtorch_cpu needs in turn;
# --allow-shlib-undefined permits linking without CUDA, which is only needed at run time.
set(_LibTorch_link_options "LINKER:--allow-shlib-undefined")
foreach(_LibTorch_dir IN LISTS LibTorch_RUNTIME_DIRS)
  list(APPEND _LibTorch_link_options "LINKER:-rpath-link,${_LibTorch_dir}")
endforeach()

# NDEBUG: the wheels are release builds, and without it the layout of at::RecordFunction differs
# from the library's, in our debug builds too.
add_library(LibTorch::c10 SHARED IMPORTED GLOBAL)
set_target_properties(
  LibTorch::c10
  PROPERTIES
    IMPORTED_LOCATION "${LibTorch_ROOT}/lib/libc10.so"
    INTERFACE_INCLUDE_DIRECTORIES
      "${LibTorch_ROOT}/include;${LibTorch_ROOT}/include/torch/csrc/api/include"
    INTERFACE_COMPILE_DEFINITIONS "${_LibTorch_definitions};NDEBUG"
    INTERFACE_LINK_OPTIONS "${_LibTorch_link_options}")

add_library(LibTorch::torch_cpu SHARED IMPORTED GLOBAL)
set_target_properties(
  LibTorch::torch_cpu PROPERTIES IMPORTED_LOCATION "${LibTorch_ROOT}/lib/libtorch_cpu.so"
                                 INTERFACE_LINK_LIBRARIES LibTorch::c10)
