// Compiles the functions of fmt into the command. fmt's shared library would also need the shared
// C++ library, and loading both takes longer than most proofs.
#include <fmt/core.h>

// Only for fmt 9; other versions are linked as a library.
#if FMT_VERSION >= 90000 && FMT_VERSION < 100000 && !defined(FMT_HEADER_ONLY)

#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// fmt's src/format.cc has these instantiations, and others that we do not use.
template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char*, const char*);

}  // namespace detail
FMT_END_NAMESPACE

#endif
