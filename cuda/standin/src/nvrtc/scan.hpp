#pragma once

#include <set>
#include <string>
#include <vector>

namespace standin {

struct Scan {
  std::vector<std::string> kernels;  // names of __global__ functions
  std::string error;                 // empty where the source would compile
  int line = 0;
};

Scan scan_source(const std::string& source, const std::set<std::string>& headers);

}  // namespace standin
