// An encoder, and a decoder whose layers attend to its output.
#include "stack.hpp"

namespace blueprint {
namespace {

using tmeter::DType;

const Keys kEncoderLayers{"encoder_layers", "num_layers", "num_hidden_layers"};
const Keys kDecoderLayers{"decoder_layers", "num_decoder_layers", "num_layers",
                          "num_hidden_layers"};
const Keys kEncoderHeads{"encoder_attention_heads"}, kDecoderHeads{"decoder_attention_heads"};

Keys before(Keys first, const Keys& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Rows of a table of positions that is added as a whole, without a look-up.
Value add_table(Model& model, const Module& encoder, const Value& x) {
  const auto table = find_tensor(find_child(encoder, "embed_positions"), "weight");
  return table ? model.program.binary("aten::add", x, model.program.bound(table)) : x;
}

/// Whisper's: two convolutions over a spectrogram, the second one of stride 2.
Value embed_audio(Model& model, const Module& encoder) {
  auto& p = model.program;
  const auto& s = model.settings;
  const Keys kPositions{"max_source_positions"}, kBins{"num_mel_bins"};
  const auto first = find_child(encoder, "conv1"), second = find_child(encoder, "conv2");
  const auto bins = find_tensor(first, "weight"), narrow = find_tensor(second, "weight");
  for (const auto& w : {bins, narrow})
    if (!w || w.shape().rank() != 3 || w.shape()[2] != 3)
      throw UnsupportedStructure("'" + std::string(encoder.path()) +
                                 "' does not have two convolutions of width 3");
  const auto most = s.integer(kPositions);
  if (!most || *most == 0) throw UnsupportedStructure(s.source() + " lacks max_source_positions");
  expect_stated(model, kBins, bins.shape()[1], bins);
  if (const auto table = find_tensor(find_child(encoder, "embed_positions"), "weight"))
    expect_stated(model, kPositions, table.shape()[0], table);
  const auto batch = p.batch(), length = p.symbol("encoder_sequence", *most, *most);
  model.assume(
      "max_source_positions, " + std::to_string(*most) +
      ": the length of the encoder that transformers has, unless encoder_sequence is bound");
  const auto audio = p.input("input_features", p.dtype(), {batch, bins.shape()[1], length * 2});
  auto x = p.unary("aten::gelu", p.convolution(first, audio, {batch, bins.shape()[0], length * 2},
                                               {.stride = 1, .padding = 1}));
  x = p.unary("aten::gelu", p.convolution(second, x, {batch, narrow.shape()[0], length},
                                          {.stride = 2, .padding = 1}));
  return add_table(model, encoder, p.transpose(x, 1, 2));
}

Value embed_text(Model& model, const Module& encoder) {
  auto& p = model.program;
  const auto most = model.settings.integer({"max_encoder_position_embeddings"});
  const auto batch = p.batch(),
             length = p.symbol("encoder_sequence", most.value_or(p.max_tokens()), kUsualSequence);
  const auto ids = p.input("input_ids", DType(TMETER_DTYPE_INT64), {batch, length});
  return embed(model, encoder.parent(), encoder, ids);
}

/// A table for encoder and decoder that neither reads, since each has its own (tie_word_embeddings:
/// false).
void use_idle_table(Model& model, const Module& base) {
  const auto table = find_tensor(find_child(base, "shared"), "weight");
  if (!table || model.program.is_used(table)) return;
  model.program.use(table);
  model.assume("encoder and decoder have tables of their own: 'shared' is not read");
}

}  // namespace

void write_half(Model& model, const Module& root, const Module& stack) {
  // A class that generates text needs both.
  if (stack.parent().name() != "encoder" || is_generator(model))
    throw UnsupportedStructure("of encoder and decoder there is only " + std::string(stack.path()));
  model.bidirectional = true;
  model.heads = before(kEncoderHeads, kHeads);
  write_decoder(model, root, stack, false);
}

void write_pair(Model& model, const Module& root, const Module& encoders, const Module& decoders) {
  auto& p = model.program;
  const auto encoder = encoders.parent(), decoder = decoders.parent();
  const auto encoder_count = layer_count(model, encoders, kEncoderLayers),
             decoder_count = layer_count(model, decoders, kDecoderLayers);
  Value memory;
  {
    model.bidirectional = true;
    model.heads = before(kEncoderHeads, kHeads);
    p.attribute(encoder, "runs_once", 1);
    const Program::ModuleCallScope calling(p, encoder, "");
    memory =
        find_child(encoder, "conv1") ? embed_audio(model, encoder) : embed_text(model, encoder);
    const auto tokens = memory.dims[1];
    memory = in_whole_windows(model, memory);
    for (size_t i = 0; i < encoder_count; ++i)
      memory = write_layer(model, encoders.child(i), i, memory);
    memory = final_norm(model, encoder, without_filling(model, memory, tokens));
  }
  model.bidirectional = false;
  model.heads = before(kDecoderHeads, kHeads);
  const auto ids =
      p.input("decoder_input_ids", DType(TMETER_DTYPE_INT64), {p.batch(), p.sequence()});
  Value x;
  {
    const Program::ModuleCallScope calling(p, decoder, "");
    x = embed(model, decoder.parent(), decoder, ids);
    for (size_t i = 0; i < decoder_count; ++i)
      x = write_layer(model, decoders.child(i), i, x, &memory);
    x = final_norm(model, decoder, x);
  }
  x = head(model, root, decoder, x);
  use_idle_table(model, decoder.parent());
  if (const auto bias = find_tensor(root, "final_logits_bias"))
    x = p.binary("aten::add", x, p.bound(bias));
  finish(model, root, x);
}

}  // namespace blueprint
