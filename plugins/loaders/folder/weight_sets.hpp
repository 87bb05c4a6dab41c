// Finds the files of a folder that hold the weights of its model.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "files.hpp"

namespace folder {

struct Choice {
  std::string file;               // the index, or the one file
  std::vector<std::string> also;  // the same weights in another format, left unread
};

/// The weights in the folder or one of its subfolders: the index, else the one model file. An empty
/// file name: there are no weights. Throws BadFile for several sets, naming them, and when files of
/// the index are missing or are Git LFS pointers, naming all of them.
Choice choose_weights(const Files& files, std::string_view subfolder);

}  // namespace folder
