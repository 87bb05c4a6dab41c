# cmake -DTOOL=tmeter -DLIBRARY=plugin.tmeter -P tmeter_write_manifest.cmake
#
# Writes LIBRARY.toml. A library that cannot be opened here – built with sanitizers, or still faulty –
# is kept for inspection: the error becomes a warning, and no manifest is written.
execute_process(COMMAND "${TOOL}" plugin manifest "${LIBRARY}" --output "${LIBRARY}.toml"
  RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_VARIABLE said)
if(NOT status EQUAL 0)
  file(REMOVE "${LIBRARY}.toml")
  string(STRIP "${said}" said)
  message(WARNING "no manifest for ${LIBRARY}, so tmeter will open it at every start to read its capabilities: ${said}")
endif()
