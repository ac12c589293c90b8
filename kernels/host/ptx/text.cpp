// Reading PTX, as NVRTC writes it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "program.h"

namespace ptx {

namespace {

const Operations &operations() {
  static const Operations all = [] {
    Operations all;
    add_arithmetic(all);
    add_bits(all);
    add_conversions(all);
    add_memory(all);
    add_warp(all);
    return all;
  }();
  return all;
}

std::string trimmed(const std::string &s) {
  size_t begin = s.find_first_not_of(" \t"), end = s.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : s.substr(begin, end - begin + 1);
}

const std::string entry = ".visible .entry ";

bool begins(const std::string &s, const std::string &with) { return s.rfind(with, 0) == 0; }

std::string base(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

// split returns the parts of s between the separators outside of braces, without blanks around them.
std::vector<std::string> split(const std::string &s, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : s) {
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (c == separator && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string &p : parts) p = trimmed(p);
  return parts;
}

size_t size_of(const std::string &type) { return type == ".pred" ? 1 : size_t(atoi(type.c_str() + 2)) / 8; }

class Reader {
public:
  explicit Reader(const std::string &path) : path(path) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      number++;
      // Debug sections, at the end, are skipped: names of functions, as bytes in braces.
      if (begins(trimmed(line), ".section")) debug = true;
      if (!begins(trimmed(line), ".file")) line = line.substr(0, line.find("//"));
      if (!debug) read(trimmed(line));
      if (debug && trimmed(line) == "}") debug = false;
    }
    // The file has lines of the source only if the compiler was asked for them.
    const std::string name = base(path), source = name.substr(0, name.find(".cu") + 3);
    for (Kernel &k : kernels) {
      for (Place &p : k.places) p.file = files.count(p.file) ? files[p.file] : source;
      k.file = source;
    }
  }

  std::vector<Kernel> kernels;

private:
  const std::string path;
  int number = 0;
  bool debug = false;
  std::map<std::string, std::string> files; // by number
  std::vector<Variable> outside; // shared memory that is declared outside of kernels
  enum { between, parameters, attributes, body } state = between;
  int depth = 0;
  // Of the kernel that is being read:
  std::string file = "1";
  int line = 0;
  std::unordered_map<std::string, uint16_t> slots;    // of registers by name; of a range such as %r<8>, of its first
  std::unordered_map<std::string, uint16_t> constants;  // slots by text
  std::unordered_map<std::string, size_t> labels;
  std::vector<std::pair<size_t, std::string>> branches;
  std::unordered_map<std::string, size_t> offsets; // of parameters

  [[noreturn]] void refuse(const std::string &what, const std::string &text) {
    throw base(path) + ":" + std::to_string(number) + ": " + what + ": " + text;
  }

  Kernel &kernel() { return kernels.back(); }

  void read(const std::string &text) {
    if (text.empty()) return;
    if (begins(text, ".file")) {
      size_t quote = text.find('"');
      files[trimmed(text.substr(6, quote - 6))] = base(text.substr(quote + 1, text.find('"', quote + 1) - quote - 1));
      return;
    }
    switch (state) {
    case between:
      if (begins(text, entry)) {
        kernels.emplace_back();
        kernel().name = text.substr(entry.size(), text.find('(') - entry.size());
        state = parameters;
      } else if (text.find(".shared ") != std::string::npos) {
        outside.push_back(variable(text));
      } else if (!begins(text, ".version") && !begins(text, ".target") && !begins(text, ".address_size")) {
        refuse("a directive that is not supported", text);
      }
      break;
    case parameters:
      if (begins(text, ".param")) {
        parameter(text);
      } else if (text == ")") {
        state = attributes;
      } else {
        refuse("no parameter", text);
      }
      break;
    case attributes:
      if (begins(text, ".maxntid")) {
        kernel().block = 1;
        for (const std::string &n : split(text.substr(8), ',')) kernel().block *= unsigned(atoi(n.c_str()));
      } else if (text == "{") {
        begin_body();
      } else if (!begins(text, ".minnctapersm")) {
        refuse("an attribute that is not supported", text);
      }
      break;
    case body:
      if (begins(text, ".loc ") || begins(text, ".loc\t")) {
        location(text);
      } else {
        for (std::string statement : split_statements(text)) this->statement(statement);
      }
    }
  }

  // split_statements cuts a line at its semicolons and drops the braces of scopes: no name has two meanings in a kernel.
  // After the last brace it ends the body.
  std::vector<std::string> split_statements(const std::string &text) {
    std::vector<std::string> all;
    size_t begin = 0;
    while (begin < text.size()) {
      size_t end = std::min(text.find(';', begin), text.size());
      std::string s = trimmed(text.substr(begin, end - begin));
      while (!s.empty() && (s[0] == '{' || s == "}")) {
        depth += s[0] == '{' ? 1 : -1;
        s = trimmed(s.substr(1));
      }
      if (!s.empty()) all.push_back(s);
      begin = end + 1;
    }
    if (depth == 0) end_body();
    return all;
  }

  // variable reads ".shared .align 16 .b8 name[256]"; dynamic shared memory has no number in the brackets.
  Variable variable(const std::string &text) {
    Variable v{};
    size_t align = text.find(".align "), type = text.find(".b", align), open = text.find('['), close = text.find(']');
    if (align == std::string::npos || type == std::string::npos || open == std::string::npos) {
      refuse("a variable that is not supported", text);
    }
    v.align = size_t(atoi(text.c_str() + align + 7));
    std::string kind = text.substr(type, text.find(' ', type) - type);
    size_t name = text.find(' ', type) + 1;
    v.name = trimmed(text.substr(name, open - name));
    v.size = close == open + 1 ? 0 : size_t(atol(text.c_str() + open + 1)) * size_of(kind);
    return v;
  }

  // parameter reads ".param .u64 name," or ".param .align 8 .b8 name[24]".
  void parameter(const std::string &text) {
    std::vector<std::string> words = split(text.substr(0, text.find(',')), ' ');
    size_t open = text.find('['), at = words[1] == ".align" ? 3 : 1;
    size_t size = size_of(words[at]), align = at == 3 ? size_t(atoi(words[2].c_str())) : size;
    if (open != std::string::npos) size *= size_t(atol(text.c_str() + open + 1));
    Kernel &k = kernel();
    size_t offset = (k.packed + align - 1) / align * align;
    k.offsets.push_back(offset);
    k.sizes.push_back(size);
    k.packed = offset + size;
    std::string name = words.back();
    offsets[name.substr(0, name.find('['))] = offset;
  }

  void location(const std::string &text) {
    int number = 0, at = 0;
    sscanf(text.c_str(), ".loc %d %d", &number, &at);
    if (at == 0) return; // code that the compiler added
    file = std::to_string(number), line = at;
  }

  void begin_body() {
    state = body;
    depth = 1;
    slots.clear(), constants.clear(), labels.clear(), branches.clear();
    Kernel &k = kernel();
    k.bits.assign(first_free, 0);
    k.known.assign(first_free, 1);
    k.known[sink] = 0;
    const char *axes[] = {".x", ".y", ".z"};
    for (uint16_t a = 0; a < 3; a++) {
      slots[std::string("%tid") + axes[a]] = uint16_t(tid + a);
      slots[std::string("%ntid") + axes[a]] = uint16_t(ntid + a);
      slots[std::string("%ctaid") + axes[a]] = uint16_t(ctaid + a);
      slots[std::string("%nctaid") + axes[a]] = uint16_t(nctaid + a);
    }
    slots["%laneid"] = laneid;
    slots["_"] = sink;
  }

  uint16_t add_slots(size_t n, uint64_t bits, bool known) {
    Kernel &k = kernel();
    size_t first = k.bits.size();
    if (first + n > 65536) refuse("too many registers", k.name);
    k.bits.resize(first + n, bits);
    k.known.resize(first + n, known);
    return uint16_t(first);
  }

  void statement(const std::string &text) {
    if (text.back() == ':') {
      labels[text.substr(0, text.size() - 1)] = kernel().code.size();
    } else if (begins(text, ".reg")) {
      std::string name = text.substr(text.find_last_of(" \t") + 1);
      size_t angle = name.find('<');
      size_t count = angle == std::string::npos ? 1 : size_t(atol(name.c_str() + angle + 1));
      slots[name.substr(0, angle)] = add_slots(count, 0, false);
    } else if (begins(text, ".shared")) {
      kernel().shared.push_back(variable(text));
    } else if (!begins(text, ".pragma")) {
      instruction(text);
    }
  }

  // slot returns the slot of a register, a constant or an address, by its text.
  uint16_t slot(const std::string &text) {
    auto exact = slots.find(text);
    if (exact != slots.end()) return exact->second;
    size_t digits = text.find_last_not_of("0123456789") + 1;
    auto many = slots.find(text.substr(0, digits));
    if (text[0] == '%' && many != slots.end()) return uint16_t(many->second + atoi(text.c_str() + digits));
    if (text.empty() || text[0] == '%') refuse("an operand that is not supported", text);
    auto constant = constants.find(text);
    if (constant != constants.end()) return constant->second;
    uint64_t bits = 0;
    if (begins(text, "0f") || begins(text, "0d")) {
      bits = strtoull(text.c_str() + 2, nullptr, 16);
    } else if (isdigit(text[0]) || text[0] == '-') {
      bits = text[0] == '-' ? uint64_t(strtoll(text.c_str(), nullptr, 0)) : strtoull(text.c_str(), nullptr, 0);
    } else if (offsets.count(text)) {
      bits = offsets[text];
    } // else shared memory, which end_body places
    return constants[text] = add_slots(1, bits, true);
  }

  // operands appends the slots of one operand: a vector has several, an address one slot and an offset.
  void operands(const std::string &text, Instruction &i, std::vector<uint16_t> &all) {
    if (text[0] == '{') {
      for (const std::string &part : split(text.substr(1, text.find('}') - 1), ',')) all.push_back(slot(part));
    } else if (text[0] == '[') {
      size_t plus = text.find('+'), close = text.find(']');
      all.push_back(slot(trimmed(text.substr(1, std::min(plus, close) - 1))));
      if (plus < close) i.offset = strtoll(text.c_str() + plus + 1, nullptr, 0);
    } else {
      for (const std::string &part : split(text, '|')) all.push_back(slot(part));
    }
  }

  void instruction(const std::string &text) {
    Instruction i{};
    std::string rest = text;
    if (rest[0] == '@') {
      size_t space = rest.find_first_of(" \t");
      i.unless = rest[1] == '!';
      i.guard = slot(rest.substr(i.unless ? 2 : 1, space - (i.unless ? 2 : 1)));
      rest = trimmed(rest.substr(space));
    }
    size_t space = std::min(rest.find_first_of(" \t"), rest.size());
    std::string name = rest.substr(0, space);
    std::vector<std::string> written = split(trimmed(rest.substr(space)), ',');
    if (begins(name, "mov.b") && written.size() == 2 && written[0][0] == '{') name = "unpack" + name.substr(3);
    if (begins(name, "mov.b") && written.size() == 2 && written[1][0] == '{') name = "pack" + name.substr(3);
    auto operation = operations().find(name);
    if (operation == operations().end()) refuse("an instruction that is not supported", text);
    i.run = operation->second.run;
    i.count = uint8_t(operation->second.count);
    std::vector<uint16_t> all;
    if (begins(name, "bra")) {
      branches.push_back({kernel().code.size(), written[0]});
    } else {
      for (const std::string &w : written) {
        if (!w.empty()) operands(w, i, all);
      }
    }
    if (all.size() != operation->second.slots) refuse("an instruction with other operands than expected", text);
    std::copy(all.begin(), all.end(), i.slot);
    kernel().code.push_back(i);
    std::string shown = text;
    std::replace(shown.begin(), shown.end(), '\t', ' ');
    if (size_t two = shown.find("  "); two != std::string::npos) shown.erase(two, 1);
    kernel().places.push_back({file, shown, line});
  }

  // end_body places the variables in shared memory, apart and each aligned as declared and no better, and resolves branches.
  void end_body() {
    state = between;
    Kernel &k = kernel();
    std::vector<Variable> dynamic;
    for (const Variable &v : outside) (v.size == 0 ? dynamic : k.shared).push_back(v);
    k.shared.insert(k.shared.end(), dynamic.begin(), dynamic.end());
    size_t at = 0;
    for (size_t n = 0; n < k.shared.size(); n++) {
      Variable &v = k.shared[n];
      if (n > 0 && k.shared[n - 1].size == 0) {
        v.at = k.shared[n - 1].at; // all dynamic ones begin together
      } else {
        v.at = (at + red_zone + 2 * v.align - 1) / (2 * v.align) * (2 * v.align) + v.align;
        at = v.at + v.size;
        k.fixed = (k.fixed + v.align - 1) / v.align * v.align + v.size;
      }
      auto constant = constants.find(v.name);
      if (constant != constants.end()) k.bits[constant->second] = v.at;
      constants.erase(v.name);
    }
    for (auto &[text, slot] : constants) {
      if (!isdigit(text[0]) && text[0] != '-' && !offsets.count(text)) refuse("an unknown name", text);
    }
    for (auto &[from, label] : branches) {
      if (!labels.count(label)) refuse("an unknown label", label);
      k.code[from].target = &k.code[labels[label]];
    }
  }
};

} // namespace

std::vector<std::string> list_kernels(const std::string &path) {
  std::vector<std::string> names;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (begins(line, entry)) names.push_back(line.substr(entry.size(), line.find('(') - entry.size()));
  }
  return names;
}

std::vector<Kernel> read_kernels(const std::string &path) { return Reader(path).kernels; }

} // namespace ptx
