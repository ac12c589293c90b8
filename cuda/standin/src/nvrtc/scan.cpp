#include "nvrtc/scan.hpp"

#include <cctype>

namespace standin {

namespace {

// plain replaces comments, strings and character literals by spaces, and keeps the lines.
std::string plain(const std::string& s) {
  std::string out = s;
  for (size_t i = 0; i < s.size();) {
    size_t end = i;
    if (s.compare(i, 2, "//") == 0) {
      end = s.find('\n', i);
    } else if (s.compare(i, 2, "/*") == 0) {
      end = s.find("*/", i + 2);
      if (end != std::string::npos) end += 2;
    } else if (s[i] == '"' || s[i] == '\'') {
      const bool digits = s[i] == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(s[i - 1])) != 0;
      for (end = i + 1; !digits && end < s.size() && s[end] != s[i] && s[end] != '\n'; end++)
        if (s[end] == '\\') end++;
      end++;
    } else {
      i++;
      continue;
    }
    if (end > s.size()) end = s.size();
    for (; i < end; i++)
      if (out[i] != '\n') out[i] = ' ';
  }
  return out;
}

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct Cursor {
  const std::string& s;
  size_t i;

  void spaces() {
    while (i < s.size() && std::isspace(static_cast<unsigned char>(s[i])) != 0) i++;
  }
  std::string name() {
    spaces();
    const size_t from = i;
    while (i < s.size() && word(s[i])) i++;
    return s.substr(from, i - from);
  }
  void parentheses() {
    int depth = 0;
    do {
      if (s[i] == '(') depth++;
      if (s[i] == ')') depth--;
      i++;
    } while (depth > 0 && i < s.size());
  }
};

// kernel_after returns name from "void __launch_bounds__(...) name(" after __global__, or
// "" if there is none.
std::string kernel_after(const std::string& s, size_t at) {
  Cursor c{s, at};
  for (;;) {
    const std::string w = c.name();
    c.spaces();
    if (w.empty()) return "";
    if (w == "void") continue;
    if (w.compare(0, 2, "__") == 0) {
      if (c.i < s.size() && s[c.i] == '(') c.parentheses();
      continue;
    }
    return c.i < s.size() && s[c.i] == '(' ? w : "";
  }
}

void brackets(const std::string& s, Scan* out) {
  std::vector<std::pair<char, int>> open;
  int line = 1;
  for (char c : s) {
    if (c == '\n') line++;
    if (c == '(' || c == '{' || c == '[') open.push_back({c, line});
    if (c != ')' && c != '}' && c != ']') continue;
    const char want = c == ')' ? '(' : c == '}' ? '{' : '[';
    if (open.empty() || open.back().first != want) {
      out->error = std::string("expected a declaration, found \"") + c + "\"";
      out->line = line;
      return;
    }
    open.pop_back();
  }
  if (!open.empty()) {
    const char c = open.back().first;
    out->error = std::string("expected a \"") + (c == '(' ? ')' : c == '{' ? '}' : ']') + "\"";
    out->line = line;
  }
}

// includes reports the first header that was not given with the program. It ignores #if:
// the kernels include nothing for other compilers.
void includes(const std::string& source, const std::set<std::string>& headers, Scan* out) {
  int line = 1;
  for (size_t at = 0; at < source.size(); line++) {
    size_t end = source.find('\n', at);
    if (end == std::string::npos) end = source.size();
    const std::string text = source.substr(at, end - at);
    at = end + 1;
    size_t hash = text.find_first_not_of(" \t");
    if (hash == std::string::npos || text[hash] != '#') continue;
    const size_t key = text.find("include", hash);
    if (key == std::string::npos) continue;
    const size_t from = text.find_first_of("<\"", key);
    const size_t to = from == std::string::npos ? from : text.find_first_of(">\"", from + 1);
    if (to == std::string::npos) continue;
    const std::string name = text.substr(from + 1, to - from - 1);
    if (headers.count(name) == 0) {
      out->error = "could not open source file \"" + name + "\" (no directories in search list)";
      out->line = line;
      return;
    }
  }
}

}  // namespace

Scan scan_source(const std::string& source, const std::set<std::string>& headers) {
  Scan out;
  const std::string s = plain(source);
  includes(source, headers, &out);
  if (out.error.empty()) brackets(s, &out);
  if (!out.error.empty()) return out;
  static const std::string kMark = "__global__";
  for (size_t at = s.find(kMark); at != std::string::npos; at = s.find(kMark, at + 1)) {
    const std::string k = kernel_after(s, at + kMark.size());
    if (!k.empty()) out.kernels.push_back(k);
  }
  return out;
}

}  // namespace standin
