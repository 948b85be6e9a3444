// Expected<T, E>: a value or the reason there is none, for the control plane.
//
// A small subset of C++23 std::expected with the same names, so that it can be replaced by it.
// Invariant: exactly one of value and error is held. No thread rules: it is a plain value.
// Data-plane code returns status enums instead (one named counter for each that is not OK).
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace wirecache {

// What went wrong, in one line fit for an operator: no trailing dot or newline.
struct Error {
  std::string message;
};

template <typename E>
class Unexpected {
 public:
  explicit Unexpected(E error) : error_(std::move(error)) {}
  E& error() { return error_; }

 private:
  E error_;
};

template <typename T, typename E = Error>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Unexpected<E> unexpected)
      : state_(std::in_place_index<1>, std::move(unexpected.error())) {}

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  E& error() { return std::get<1>(state_); }
  const E& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, E> state_;
};

// The result of an operation that yields nothing but may fail.
template <typename E>
class [[nodiscard]] Expected<void, E> {
 public:
  Expected() = default;
  Expected(Unexpected<E> unexpected) : failed_(true), error_(std::move(unexpected.error())) {}

  bool has_value() const { return !failed_; }
  explicit operator bool() const { return has_value(); }
  E& error() { return error_; }
  const E& error() const { return error_; }

 private:
  bool failed_ = false;
  E error_{};
};

inline Unexpected<Error> fail(std::string message) {
  return Unexpected<Error>(Error{std::move(message)});
}

}  // namespace wirecache
