// Tables of live objects behind opaque handles.
#pragma once

#include <map>
#include <memory>

#include "core/state.hpp"

namespace standin {

template <class T>
class Table {
 public:
  explicit Table(Kind kind) : kind_(kind) {}

  T* add(std::shared_ptr<T> object) {
    T* raw = object.get();
    live_[raw] = std::move(object);
    count(kind_);
    return raw;
  }

  T* find(const void* handle) const {
    const auto it = live_.find(handle);
    return it == live_.end() ? nullptr : it->second.get();
  }

  std::shared_ptr<T> share(const void* handle) const {
    const auto it = live_.find(handle);
    return it == live_.end() ? nullptr : it->second;
  }

  bool remove(const void* handle) {
    if (live_.erase(handle) == 0) return false;
    count(kind_, -1);
    return true;
  }

  template <class Pred>
  void remove_if(Pred pred) {
    for (auto it = live_.begin(); it != live_.end();) {
      if (!pred(*it->second)) {
        ++it;
        continue;
      }
      it = live_.erase(it);
      count(kind_, -1);
    }
  }

  template <class Fn>
  void each(Fn fn) {
    for (auto& kv : live_) fn(*kv.second);
  }

 private:
  Kind kind_;
  std::map<const void*, std::shared_ptr<T>> live_;
};

}  // namespace standin

// STANDIN_TABLE defines a function that returns a table, which lives as long as the process.
#define STANDIN_TABLE(name, T, kind)                   \
  standin::Table<T>& name() {                          \
    static auto* t = new standin::Table<T>(kind);      \
    return *t;                                         \
  }
