// The note that the Python package adds to an exported archive: `extra/tmeter-export`, lines of
// a word and a text.
//
//   way      how the model was exported, "torch.jit.trace"
//   assumed  an assumption that the values rest on
//
// The archive is untrusted: its text is made printable, and long notes are cut.
#pragma once
#include "core/archive/zip.hpp"
#include "core/ir/builder.hpp"
#include "core/plugin_host/call.hpp"

namespace tmeter::core {

/// Adds the way to the property "producer", sets the property "assumed", and warns.
void read_export_note(const ZipArchive& archive, GraphBuilder& builder, CallLog& log);

}  // namespace tmeter::core
