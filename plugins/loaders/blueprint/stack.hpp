// Shared parts of models: stacks of layers, the table of embeddings before them, the head after
// them.
#pragma once
#include "parts.hpp"

namespace blueprint {

/// Modules whose children 0, 1, 2, … are alike, experts excepted.
std::vector<Module> find_stacks(const Module& root);

/// The number of layers in the configuration; layers after them predict further tokens and are not
/// run. Throws Contradiction.
size_t layer_count(Model& model, const Module& stack, const Keys& key);

/// One layer over tokens x; `memory`: the output of an encoder; may be null.
Value write_layer(Model& model, const Module& m, size_t i, const Value& x,
                  const Value* memory = nullptr);

/// Token ids [batch, tokens] to vectors, by the table of `base` or of `owner` around it. Becomes
/// the model's table.
Value embed(Model& model, const Module& owner, const Module& base, const Value& ids);

/// Whether the class in the configuration generates text, token by token.
bool is_generator(const Model& model);

/// The norm after the layers, if there is one.
Value final_norm(Model& model, const Module& base, const Value& x);

/// Whether the module has a table of tokens.
bool has_tokens(const Module& m);

/// Scores of the vocabulary if the model has a head, else x; `base` holds the layers.
Value head(Model& model, const Module& root, const Module& base, const Value& x);

/// The same, or scores of classes, of each token or of a text or image as a whole; `owner` holds
/// tables and layers.
Value head_of_task(Model& model, const Module& root, const Module& base, const Module& owner,
                   const Value& x);

/// The output x, after an unknown operator for the parameters in `within` that no part has used.
void finish(Model& model, const Module& within, const Value& x);

// Kinds of models.
/// `text_alone`: the model has other towers, which are not run.
void write_decoder(Model& model, const Module& root, const Module& stack, bool text_alone);
void write_image(Model& model, const Module& root, const Module& stack);
void write_pair(Model& model, const Module& root, const Module& encoder, const Module& decoder);
/// `convolutions`: the module that turns samples into frames.
void write_audio(Model& model, const Module& root, const Module& convolutions, const Module& stack);
/// The encoder of a pair without a decoder, such as a text encoder of diffusers.
void write_half(Model& model, const Module& root, const Module& stack);

}  // namespace blueprint
