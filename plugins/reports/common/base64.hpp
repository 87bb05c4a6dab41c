// Base64 (RFC 4648): blocks of data in a page, and the hashes of its policy.
#pragma once
#include <string>
#include <string_view>

namespace reports {

std::string base64(std::string_view bytes);

/// "'sha256-…'": how a Content-Security-Policy names the one script or style of this text.
std::string policy_hash(std::string_view text);

}  // namespace reports
